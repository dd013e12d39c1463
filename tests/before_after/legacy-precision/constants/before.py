# fixer: target=lightning==2.6.6
import lightning as L
from lightning.pytorch import Trainer

PRECISION = 16
HALF: str = "bf16"


def main(amp):
    trainer = Trainer(precision=PRECISION, max_epochs=3)
    fabric = L.Fabric(precision=HALF)
    local = 16 if amp else 32
    other = Trainer(precision=local)
    return trainer, fabric, other


class Quiet(Trainer):
    def __init__(self, **kwargs):
        super().__init__(precision=16, logger=False)


class Quieter(L.Fabric):
    def __init__(self):
        super().__init__(precision="bf16")
