import lightning.pytorch as pl


class Base(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.configure()

    def configure(self):
        pass
