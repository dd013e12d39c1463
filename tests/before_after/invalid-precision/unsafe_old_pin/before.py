# fixer: target=pytorch-lightning==1.9.5 unsafe
from pytorch_lightning import Trainer

trainer = Trainer(precision="16-mixed")
brain = Trainer(precision='bf16-mixed' if trainer else '32-true')
misspelled = Trainer(precision="16_mixed")
