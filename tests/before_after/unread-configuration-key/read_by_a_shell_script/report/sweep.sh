#!/bin/sh
set -e
rates=$(yq -r .learning_rates config.yml)
for project in $(yq -r .wandb_projects config.yml); do
  for rate in $rates; do
    axolotl train config.yml --learning-rate "$rate" --wandb-project "$project" --output-dir "out/$project/$rate"
  done
done
