#!/bin/sh
# the script divides itself: keep the library out of it
export ACCELERATE_GRADIENT_ACCUMULATION_STEPS=1
exec python train.py --accumulate "${1:-4}"
