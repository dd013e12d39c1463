import torch


def backward(loss, scaler):
    if scaler is None:
        loss.backward()
    else:
        scaler.scale(loss).backward()


def weighted(scaler, loss):
    return scaler.scale(loss) * 0.5


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def compute_loss(self, batch):
        return self.scaler.scale(self.model(batch))

    def train(self, loader):
        for batch in loader:
            loss = self.compute_loss(batch)
            loss.backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def optimize(self, loss):
        loss.backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def helped(self, loader):
        for batch in loader:
            loss = weighted(self.scaler, self.model(batch))
            loss.backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def wrapped(self, loader, accelerator):
        for batch in loader:
            loss = self.scaler.scale(self.model(batch))
            accelerator.backward(loss)
            self.scaler.step(self.optimizer)
            self.scaler.update()
