# fixer: target=lightning==2.6.6
import pytorch_lightning
from lightning import Fabric as LightningFabric
from pytorch_lightning import Trainer

AMP = True
joined = Trainer(precision='16-mixed', max_epochs=3)
turned = Trainer(precision='16-mixed')
capital = Trainer(precision='bf16-mixed')
prefixed = Trainer(precision='16-mixed')
spelled_out = Trainer(precision='bf16-true')
single = Trainer(precision='32-true')
either = Trainer(precision='16-mixed' if AMP else '32-true')
nested = pytorch_lightning.Trainer(precision=('bf16-mixed' if AMP else ('16-mixed' if joined else "64-true")), devices=1)
fabric = LightningFabric(accelerator='cuda', precision = '16-true')
two = Trainer(precision='bf16-mixed')
