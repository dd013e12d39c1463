from lightning.pytorch import LightningModule


class ByHand(LightningModule):
    MODE = {"automatic": False}

    def __init__(self):
        super().__init__()
        for kind, value in self.MODE.items():
            setattr(self, f"{kind}_optimization", value)

    def descend(self, loss):
        inner = self.optimizers().optimizer
        inner.zero_grad()
        loss.backward()
        inner.step()
