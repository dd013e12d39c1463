import lightning.pytorch as pl

from data import Synthetic
from module import Net


def main(batches, **kwargs):
    net = Net()
    pl.Trainer(max_epochs=1, **kwargs).fit(net, datamodule=Synthetic(batches))
    return net
