# fixer: target=pytorch-lightning==1.9.5 unsafe
from pytorch_lightning import Trainer

trainer = Trainer(precision=16)
brain = Trainer(precision='bf16' if trainer else 32)
misspelled = Trainer(precision=16)
