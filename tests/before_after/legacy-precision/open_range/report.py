# fixer: target=pytorch-lightning>=1.8
from pytorch_lightning import Trainer

trainer = Trainer(precision=16)
