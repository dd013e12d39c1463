#!/bin/bash
set -e
python train.py --region-dtype bfloat16 --steps 2000
