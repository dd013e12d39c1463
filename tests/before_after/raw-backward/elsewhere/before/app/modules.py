from pytorch_lightning import LightningModule as _Module


class ManualModule(_Module):
    """Optimizers are stepped by hand."""

    def __init__(self):
        super().__init__()
        self.setup_optimization()
        self.automatic_optimization = False

    def setup_optimization(self):
        self.clip = 1.0

    def descend(self, loss, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def never_called(self, loss):
        loss.backward()
