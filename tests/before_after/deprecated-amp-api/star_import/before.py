from torch.cuda.amp import *


def step(model, x):
    with autocast(enabled=False):
        return model(x)
