from pytorch_lightning import Trainer

trainer = Trainer(precision=16)
