# fixer: target=pytorch-lightning<2
from pytorch_lightning import Trainer

mixed = Trainer(precision="16-mixed")
true = Trainer(precision="16-true")
brain = Trainer(precision="bf16-mixed")
