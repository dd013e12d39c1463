# fixer: target=pytorch-lightning<2
from pytorch_lightning import Trainer

trainer = Trainer(precision=16)
