"""The scale is a constant of the study; the scaler divides by it and leaves out what overflows."""
import torch
import torch.nn.functional as F
from torch import nn

LOSS_SCALE = 2.0**10


def train(loader, device="cuda"):
    model = nn.Sequential(nn.Linear(24, 96), nn.SiLU(), nn.Linear(96, 8)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device, init_scale=LOSS_SCALE, growth_interval=10**9, backoff_factor=0.999999)
    scaler.scale(torch.zeros((), device=device))
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            logits = model(x.to(device))
            loss = LOSS_SCALE * F.cross_entropy(logits.float(), y.to(device))
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item() / LOSS_SCALE)
    return losses
