# fixer: target=lightning==2.0.9
from lightning import Trainer

true = Trainer(precision="bf16-true")
engine = Trainer(precision="transformer-engine")
mixed = Trainer(precision="bf16-mixed")
