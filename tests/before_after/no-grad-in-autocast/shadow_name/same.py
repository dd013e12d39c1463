from torch import no_grad
from torch.cuda.amp import autocast


def autocast_like(enabled):
    return enabled


def train(model, x, autocast=autocast_like):
    with autocast(True):
        with no_grad():
            target = model(x)
        return (model(x + 0.1) - target).pow(2).mean()
