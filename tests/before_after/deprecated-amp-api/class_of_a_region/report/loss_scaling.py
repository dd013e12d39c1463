import torch
from regions import region


def scaler(half):
    wanted = isinstance(region(half), torch.cuda.amp.autocast)
    return torch.amp.GradScaler("cuda", enabled=wanted)
