import pytorch_lightning as pl


def main(model, loader):
    pl.Trainer(precision=16).fit(model, loader)
