import pytorch_lightning as pl


class ByHand(pl.LightningModule):
    def __new__(cls, *args, **kwargs):
        module = super().__new__(cls)
        module.__dict__["automatic_by_default"] = False
        return module

    @property
    def automatic_optimization(self):
        return self.__dict__["automatic_by_default"]

    @automatic_optimization.setter
    def automatic_optimization(self, value):
        pass

    def descend(self, loss):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
