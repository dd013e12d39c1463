import lightning.pytorch as pl


class Net(pl.LightningModule):
    pass
