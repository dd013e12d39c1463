import torch
from torch.cuda.amp import autocast


def train(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        # accelerate the forward pass
        with autocast():
            loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
