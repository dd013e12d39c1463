import torch


class Base:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.grad_scaler = torch.amp.GradScaler("cuda")

    def run(self, loader):
        for batch in loader:
            self.train_step(batch)
            self.grad_scaler.update()
