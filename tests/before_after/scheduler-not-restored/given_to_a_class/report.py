from typing import Optional

import torch


class Trainer:
    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        lr_scheduler: Optional[torch.optim.lr_scheduler.LRScheduler] = None,
        path: str = "",
    ):
        self.model, self.optimizer, self.path = model, optimizer, path
        self.lr_scheduler = lr_scheduler
        if path:
            self.load()

    def save(self, epoch):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, f"{epoch}.pt")

    def load(self):
        saved = torch.load(self.path)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])

    def train_one_epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
        if self.lr_scheduler:
            self.lr_scheduler.step()
