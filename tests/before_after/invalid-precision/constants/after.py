# fixer: target=lightning==2.6.6
from lightning.pytorch import Trainer

PRECISION = "16-mixed"


class Quiet(Trainer):
    def __init__(self):
        super().__init__(precision="bf16-mixed", logger=False)


def main():
    return Trainer(precision=PRECISION)
