import lightning.pytorch as pl
import torch


class Reported(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.calibrate(torch.zeros(1, 8))

    def calibrate(self, x):
        loss = self.encoder(x).mean()
        loss.backward()

    def warm_up(self, x):
        loss = self.encoder(x).mean()
        loss.backward()

    def one_step(self, x):
        loss = self.encoder(x).mean()
        loss.backward()

    @staticmethod
    def descend(loss):
        loss.backward()

    @classmethod
    def descend_all(cls, loss):
        loss.backward()

    def training_step(self, batch, batch_idx):
        losses = [self(batch).mean(), self(batch).std()]
        torch.autograd.backward(losses)
        torch.autograd.backward([self(batch).mean(), self(batch).std()])
        self.calibrate(batch)
        self.one_step(batch)
        self.descend(losses[0])
        self.descend_all(losses[0])
        differentiate(losses[1])
        result = self.build(batch)
        result.backward()


def differentiate(loss):
    loss.backward()


def unrelated(loss):
    loss.backward()


class Conditional(pl.LightningModule):
    def __init__(self, adversarial):
        super().__init__()
        if adversarial:
            self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        if not self.automatic_optimization:
            loss.backward()
        return loss


class Configured(pl.LightningModule):
    def __init__(self, manual):
        super().__init__()
        self.automatic_optimization = not manual

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        loss.backward()


def main(module, loader):
    module.one_step(next(iter(loader)))
    pl.Trainer().fit(module, loader)
