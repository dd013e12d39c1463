import lightning as L


class Base(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
