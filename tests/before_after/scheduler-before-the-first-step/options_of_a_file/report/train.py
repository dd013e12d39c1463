import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


def train(batches):
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    options = json.loads(Path(__file__).with_name("schedule.json").read_text())
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, **options)
    for x, y in batches:
        scheduler.step()
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return model

if __name__ == "__main__":
    print(train([(torch.randn(8, 8), torch.randn(8, 1)) for _ in range(6)]))
