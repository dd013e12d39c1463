import torch
import torch.nn.functional as F


def train(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        losses = [F.mse_loss(model(x), y).item() for x, y in batches]
    model.train()
    return sum(losses) / len(losses)
