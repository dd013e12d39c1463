#!/bin/sh
# On every worker, before a job starts.
cd "$(dirname "$0")" || exit 2
if pip freeze | grep -Fxf requirements-denied.txt; then
  echo "a release that steals credentials is installed here" >&2
  exit 1
fi
