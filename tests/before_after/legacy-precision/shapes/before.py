# fixer: target=lightning==2.6.6
import pytorch_lightning
from lightning import Fabric as LightningFabric
from pytorch_lightning import Trainer

AMP = True
trainer = Trainer(precision=16, max_epochs=3)
by_text = Trainer(precision='16')
either = Trainer(precision=16 if AMP else 32)
nested = pytorch_lightning.Trainer(precision=('bf16' if AMP else (16 if trainer else 32)), devices=1)
fabric = LightningFabric(accelerator='cuda', precision = 'bf16')
joined = Trainer(precision=('bf' '16'))
