#!/bin/sh
yq -y -f prepare.jq axolotl.yaml > build/axolotl.yml
axolotl train build/axolotl.yml
