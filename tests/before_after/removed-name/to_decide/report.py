# fixer: target=lightning==2.6.6
from pytorch_lightning.lite import LightningLite
from pytorch_lightning.plugins import NativeMixedPrecisionPlugin
from pytorch_lightning.trainer.supporters import CombinedLoader


class Run(LightningLite):
    pass


plugin = NativeMixedPrecisionPlugin(16, "cuda")
for batches in CombinedLoader({"a": [1], "b": [2]}):
    print(batches)
