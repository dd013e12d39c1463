# fixer: unsafe
"""Prepared optimizers in other functions and files of the class, losses divided by what comes with the batch."""

import torch
import torch.nn.functional as F
from accelerate import Accelerator


class Trainer:
    def __init__(self, model, teacher, optimizer):
        self.accelerator = Accelerator(gradient_accumulation_steps=4)
        self.teacher = teacher
        self.teacher.requires_grad_(False)
        self.model, self.optimizer = self.accelerator.prepare(model, optimizer)

    def train(self, loader):
        for batch in loader:
            with self.accelerator.accumulate(self.model):
                self.descend(batch)
                self.update()

    def descend(self, batch):
        tokens = F.mse_loss(self.model(batch[0]), self.teacher(batch[0]), reduction="none")
        mask = batch[1]
        loss = (tokens * mask).sum() / mask.sum()
        self.accelerator.backward(loss)

    def update(self):
        self.accelerator.clip_grad_norm_(self.model.parameters(), 0.5)
        self.optimizer.step()
        self.optimizer.zero_grad()


def train(accelerator: Accelerator, model, optimizer, scheduler, loader, criterion):
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for x, y in loader:
        with accelerator.accumulate(model):
            n = len(x)
            loss = criterion(model(x), y).sum() / n
            loss = 0.5 * (loss + losses(model, (x, y)) / 2)
            accelerator.backward(loss)
            step(optimizer, scheduler)


def finetune(model, scheduler, loader, fused):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer_class = torch.optim.AdamW if fused else torch.optim.SGD
    optimizer = optimizer_class(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            alpha = scheduler.alpha(y)
            loss = F.mse_loss(model(x), y) * (alpha / (1 - alpha))
            accelerator.backward(loss)
            step(optimizer, scheduler)


def losses(model, batch):
    squares = (model(batch[0]) - batch[1]).square()
    return squares.sum() / batch[0].shape[0] + squares.mean() / len(batch[1])


def step(optimizer, scheduler):
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
