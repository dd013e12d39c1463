python train.py train.trainer.precision=16 trainer.precision=bf16 model.precision=16 subtrainer.precision=16
