import torch
from torch import nn
from torch.nn import functional as F


def fit(model: nn.Module, loader, optimizer, scaler, epochs):
    for epoch in range(epochs):
        losses, weighted, seen = [], 0, 0
        for step, (x, y) in enumerate(loader):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss / 4).backward()
            losses.append(loss.detach())
            weighted += loss.detach() * x.size(0)
            seen += x.size(0)
            if (step + 1) % 4 == 0:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            print(f"{sum(losses) / len(losses):.3f}", losses[-1].item())
        print(epoch, (weighted / seen).item())
