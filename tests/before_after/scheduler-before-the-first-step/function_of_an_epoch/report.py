import torch
import torch.nn.functional as F

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


def train(batches):
    scheduler.step()
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def train_first(batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler.step()


def main(batches):
    for _ in range(10):
        train(batches)


def right(batches):
    for _ in range(10):
        train_first(batches)
