#!/bin/sh
if pip freeze | grep -Fx "$(sed '/^#/d' requirements-*.txt)"; then
    exit 1
fi
