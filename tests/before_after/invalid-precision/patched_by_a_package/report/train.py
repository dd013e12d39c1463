from lightning.pytorch import Trainer
from sheets.model import Net

trainer = Trainer(precision="fp32")
trainer.fit(Net())
