#!/bin/bash
python train.py --overwrite_output_dir
llamafactory-cli train --evaluation_strategy steps --no_cuda
