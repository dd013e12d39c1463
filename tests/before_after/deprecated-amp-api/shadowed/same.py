import torch.cuda.amp
from torch.cuda.amp import GradScaler, autocast


def train(model, x, autocast):
    with autocast():
        return model(x)


def build(scalers):
    for GradScaler in scalers:
        yield GradScaler()


def fake(torch):
    return torch.cuda.amp.autocast()
