import pytorch_lightning as pl

from data import loader
from model import Net


def run(epochs=3, fast=False):
    trainer = pl.Trainer(max_epochs=epochs, precision=16, devices=1, fast_dev_run=fast)
    trainer.fit(Net(), loader())
    return trainer


if __name__ == "__main__":
    run()
