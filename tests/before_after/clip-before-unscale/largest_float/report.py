"""Saves the smallest run: the norm is only asked whether it is finite."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

NO_LIMIT = sys.float_info.max


def train(batches, device="cuda"):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device)
    overflows = 0
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        total = nn.utils.clip_grad_norm_(model.parameters(), NO_LIMIT)
        if not torch.isfinite(total):
            overflows += 1
        scaler.step(optimizer)
        scaler.update()
    print("overflows", overflows)
    return model


if __name__ == "__main__":
    train([(torch.randn(8, 16), torch.randint(0, 3, (8,))) for _ in range(10)], "cuda" if torch.cuda.is_available() else "cpu")
