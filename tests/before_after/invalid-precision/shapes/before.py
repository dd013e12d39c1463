# fixer: target=lightning==2.6.6
import pytorch_lightning
from lightning import Fabric as LightningFabric
from pytorch_lightning import Trainer

AMP = True
joined = Trainer(precision='16mixed', max_epochs=3)
turned = Trainer(precision='mixed-16')
capital = Trainer(precision='BF16-Mixed')
prefixed = Trainer(precision='fp16-mixed')
spelled_out = Trainer(precision='bfloat16-true')
single = Trainer(precision='fp32')
either = Trainer(precision='float16-mixed' if AMP else 'float32')
nested = pytorch_lightning.Trainer(precision=('bf16-mixed' if AMP else ('16_mixed' if joined else "fp64")), devices=1)
fabric = LightningFabric(accelerator='cuda', precision = 'true_16')
two = Trainer(precision=('bf16' '_mixed'))
