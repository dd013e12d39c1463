# fixer: target=torch==2.5
import torch
from torch.cuda.amp import GradScaler, autocast


class ClippedScaler(GradScaler):
    def __init__(self, init_scale=1024.0):
        super().__init__(init_scale)


def precision(name, *options):
    if name == "amp":
        return torch.cuda.amp.autocast
    with autocast(*options):
        pass
    with autocast("cuda"):
        pass
    return build(scaler=GradScaler)


amp_autocast = torch.cuda.amp.autocast


def step(model, x):
    with amp_autocast(False):
        return model(x)
