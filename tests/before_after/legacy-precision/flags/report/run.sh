#!/bin/bash
#SBATCH --nodes=1
cd "$(dirname "$0")"
CUDA_VISIBLE_DEVICES=0,1 python main.py fit \
    --config configs/fit.yaml \
    --trainer.precision 16 \
    --trainer.devices 2   # two
srun python main.py fit --trainer.precision=bf16 --model.precision 16
torchrun --nproc_per_node 2 src/train.py --devices 2 --precision 16 --amp-bits="bf16"
python -m src.train --precision=16
python hydra_main.py experiment=large trainer.precision=16 model.precision=16 ++trainer.precision="'bf16'"
for bits in 16 32; do
  if [[ $bits == 16 ]]; then python main.py fit --trainer.precision 16; fi
done
cat > job.sh <<EOF
python main.py fit --trainer.precision 16
EOF
# python main.py fit --trainer.precision 16
python main.py fit --trainer.precision $bits --trainer.precision 32
python main.py fit --trainer.precision
python unknown.py --precision 16
echo python main.py fit --trainer.precision 16
project-train fit --trainer.precision bf16
project-train evaluate --trainer.precision bf16
