import lightning.pytorch as pl

from module import Robust


def main(net, loader):
    pl.Trainer(accelerator="gpu", precision="16-mixed", max_epochs=3).fit(Robust(net), loader)
