import torch
from torch.cuda.amp import GradScaler


def train(model, optimizer, loader, scaler: GradScaler):
    for micro_batches in loader:
        for batch in micro_batches:
            losses = model(batch)
            torch.autograd.backward(losses.mean(), retain_graph=False)
        scaler.step(optimizer)
        scaler.update()
