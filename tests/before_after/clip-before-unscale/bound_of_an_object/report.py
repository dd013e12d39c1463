import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Bound:
    def __init__(self, *bounds):
        self.value = min(bounds)


def train(loader, bound=1.0, device="cuda"):
    model = nn.Sequential(nn.Linear(20, 80), nn.ReLU(), nn.Linear(80, 4)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        norms = torch.stack([p.grad.norm() for p in model.parameters()])
        typical = norms.median().item()
        clip_grad_norm_(model.parameters(), Bound(bound, typical).value)
        scaler.step(optimizer)
        scaler.update()
    return model
