import torch
import yaml
from torch import nn

from heads import RangeHead


def forward(x, path="run.yaml"):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(0)
    body, head = nn.Linear(8, 8), RangeHead()
    with torch.no_grad():
        head.proj.weight.mul_(1000.0)
    with torch.autocast("cpu", dtype=getattr(torch, cfg["dtype"])):
        return head(body(x))
