import lightning.pytorch as pl
from lightning.pytorch import Trainer

from my_project import DEFAULT, Base

SEVERAL = 32
SEVERAL = 16

try:
    from my_project import SOMETIMES
except ImportError:
    SOMETIMES = 16


class Own(Base):
    def __init__(self):
        super().__init__(precision=16)


class Between(Trainer):
    def __init__(self, precision):
        super().__init__(precision=f"{precision}-mixed")


class Below(Between):
    def __init__(self):
        super().__init__(precision=16)


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__(precision=16)


def main(given):
    Trainer(precision=SEVERAL)
    Trainer(precision=SOMETIMES)
    Trainer(precision=DEFAULT)
    Trainer(precision=given)
