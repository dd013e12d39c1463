import lightning.pytorch as pl

FLAVOURS = {"32": "32-true", "16": "16-true", "bf16": "bf16-true"}


class LabTrainer(pl.Trainer):
    def __init__(self, precision: str = "32", max_epochs: int = 10, devices: int = 1, accumulate_grad_batches: int = 1):
        super().__init__(
            precision=FLAVOURS[precision],
            max_epochs=max_epochs,
            devices=devices,
            accumulate_grad_batches=accumulate_grad_batches,
        )
