# fixer: target=lightning==2.6.6
from lightning.pytorch import Trainer

PRECISION = "fp16-mixed"


class Quiet(Trainer):
    def __init__(self):
        super().__init__(precision="bf16_mixed", logger=False)


def main():
    return Trainer(precision=PRECISION)
