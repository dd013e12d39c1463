import torch
from torch.cuda.amp import *


def step(model, x):
    with torch.amp.autocast("cuda", enabled=False):
        return model(x)
