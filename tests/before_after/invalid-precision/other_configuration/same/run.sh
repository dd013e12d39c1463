accelerate launch --mixed_precision fp16 main.py fit
python other.py --precision fp16
