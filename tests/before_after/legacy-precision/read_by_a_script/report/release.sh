#!/usr/bin/env bash
set -euo pipefail

python net.py fit --config config.yaml

bits=$(yq '.trainer.precision' config.yaml)
checkpoint=$(ls -t lightning_logs/*/checkpoints/*.ckpt | head -1)
python -m serving.pack --checkpoint "$checkpoint" --weight-bits $((bits)) --group $((bits * 8))
