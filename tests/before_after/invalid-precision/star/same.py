from pytorch_lightning import *

trainer = Trainer(precision="16_mixed")
