# fixer: unsafe
import torch
from transformers import (
    AdamW,
    get_linear_schedule_with_warmup,
)


def build(model, warmup, total, lr=0.05):
    optimizer = AdamW(model.parameters(), lr=lr)
    return optimizer, get_linear_schedule_with_warmup(optimizer, warmup, total)


def train(model, loader, optimizer, scheduler):
    losses = []
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses
