import torch
import torch.nn.functional as F
from torch import nn

from setup import configure


class Prompted(nn.Module):
    def __init__(self, width=8, hidden=16):
        super().__init__()
        self.prompt = nn.Parameter(torch.zeros(width))
        self.body = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def forward(self, x):
        return self.body(x + self.prompt)


def tune(batches):
    model = Prompted()
    cfg = configure(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"])
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                base = model(x)
            loss = F.mse_loss(model(y), base)
        loss.backward()
        optimizer.step()
    return model
