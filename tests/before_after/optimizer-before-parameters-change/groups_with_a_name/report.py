import torch
import torch.nn.functional as F
from torch import nn


def main(batches, path):
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 1))
    groups = [
        {"params": [p for n, p in model.named_parameters() if "bias" not in n], "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if "bias" in n], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3)
    model.load_state_dict(torch.load(path, mmap=True), assign=True)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
