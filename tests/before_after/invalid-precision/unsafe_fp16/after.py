# fixer: unsafe
from lightning.pytorch import Trainer

trainer = Trainer(precision="16-mixed")
shouted = Trainer(precision="bf16-mixed")
