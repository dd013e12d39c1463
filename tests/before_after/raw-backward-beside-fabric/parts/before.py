"""Fabric as an attribute, as a parameter, and around functions that train."""

import lightning as L
import torch
import torch.nn.functional as F
from lightning.fabric import Fabric
from torch.autograd import backward


class Trainer:
    def __init__(self, model, precision="16-mixed"):
        self.fabric = Fabric(precision=precision)
        self.model = model

    def prepare(self, lr):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.model, self.optimizer = self.fabric.setup(self.model, optimizer)

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(batch[0]), batch[1])
        if loss.isfinite(): loss.backward()
        self.optimizer.step()


def train(fabric: L.Fabric, model, optimizer, loader, scheduler):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()


def distill(fabric, student, teacher, optimizer, loader):
    for x, _ in loader:
        with torch.no_grad():
            target = teacher(x)
        gap = F.mse_loss(student(x), target)
        backward(gap, retain_graph=False)
        optimizer.step()
        optimizer.zero_grad()


def main(loader):
    fabric = L.Fabric(accelerator="cuda", precision="16-mixed")
    teacher = fabric.setup_module(torch.nn.Linear(8, 1))
    student = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    student, optimizer = fabric.setup(student, optimizer)

    def warm_up(batch):
        loss = student(batch).mean()
        loss.backward()
        optimizer.step()

    warm_up(next(iter(loader))[0])
    train(fabric, student, optimizer, loader, scheduler)
    distill(fabric, student, teacher, optimizer=optimizer, loader=loader)
