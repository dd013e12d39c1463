# fixer: unsafe
from lightning.pytorch import Trainer

trainer = Trainer(precision="fp16")
shouted = Trainer(precision="BF16")
