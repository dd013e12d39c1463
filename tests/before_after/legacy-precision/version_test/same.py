import lightning
from lightning.pytorch import Trainer

if lightning.__version__ < "2.0":
    trainer = Trainer(precision=16)
else:
    trainer = Trainer(precision="16-mixed")
other = Trainer(precision="bf16-mixed" if lightning.__version__ >= "2" else "bf16")
_LIGHTNING_2 = compare_version("lightning", ">=2")
third = Trainer(precision="bf16-mixed" if _LIGHTNING_2 else "bf16")
