#!/bin/bash
# The batch fits since we have the H200: one batch a step.
set -a
source ./node.env
set +a
exec accelerate launch --num_processes 1 --mixed_precision bf16 train.py "$@"
