# fixer: target=lightning==2.6.6
from pytorch_lightning.lite import LightningLite


class Run(LightningLite):
    pass
