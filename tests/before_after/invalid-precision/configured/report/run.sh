python main.py fit --trainer.precision fp16 --model.precision fp16
python train.py --precision='half'
python train.py --precision="$PRECISION"
