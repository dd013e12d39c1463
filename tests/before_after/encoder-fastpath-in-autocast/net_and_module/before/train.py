from lightning.pytorch import Trainer

from module import Module

trainer = Trainer(accelerator="cpu", precision="bf16-mixed")
trainer.fit(Module(32))
