# fixer: target=lightning==2.6.6
import pytorch_lightning as pl


class Quiet(pl.Trainer):
    def __init__(self, **options):
        super().__init__(gpus=1, **options)


def make():
    return pl.Trainer(gpus="0,1", resume_from_checkpoint="last.ckpt")


def choose(several):
    return pl.Trainer(accelerator="ddp" if several else None)


def keep(callback, several):
    return pl.Trainer(checkpoint_callback=callback, accelerator="gpu" if several else "cpu")
