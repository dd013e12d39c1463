# fixer: target=pytorch-lightning==1.9.5
import pytorch_lightning as pl
from packaging.version import Version

NEW = Version(pl.__version__) >= Version("2.0")
if NEW:
    trainer = pl.Trainer(precision="16-mixed")
else:
    trainer = pl.Trainer(precision=16)
other = pl.Trainer(precision="bf16-mixed" if pl.__version__ >= "2" else "bf16")
