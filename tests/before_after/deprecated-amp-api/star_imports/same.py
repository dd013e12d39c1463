from torch.cuda.amp import *
from apex_compat import *


def step(model, x):
    with autocast(enabled=False):
        return model(x)
