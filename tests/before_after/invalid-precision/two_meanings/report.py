import torch
from lightning.pytorch import Trainer

Trainer(precision="fp16")
Trainer(precision="float16")
Trainer(precision="bfloat16")
Trainer(precision="half")
Trainer(precision="16-bit")
Trainer(precision="mixed")
Trainer(precision="auto")
Trainer(precision="32-mixed")
Trainer(precision="16-16-mixed")
Trainer(precision="")
Trainer(precision=8)
Trainer(precision=16.0)
Trainer(precision=True)
Trainer(precision="half" if torch.cuda.is_available() else "16-mixed")
