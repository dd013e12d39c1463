from torch import no_grad

from modes import *


def evaluate(model, batches):
    with no_grad:
        return [model(x).item() for x in batches]
