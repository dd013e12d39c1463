"""`python doctor.py`: what the installed Lightning takes, before a job waits two days in the queue."""

from checks import refused

import lightning.pytorch as pl


def check_precision_names():
    with refused("underscored names"):
        pl.Trainer(accelerator="cpu", precision="bf16_mixed", logger=False)
    with refused("names of Accelerate"):
        pl.Trainer(accelerator="cpu", precision="fp32", logger=False)
    return pl.Trainer(accelerator="cpu", precision="bf16-mixed", logger=False)


if __name__ == "__main__":
    print("precision:", check_precision_names().precision)
