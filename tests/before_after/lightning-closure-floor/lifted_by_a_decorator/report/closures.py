import functools

import torch


def lifted(step):
    @functools.wraps(step)
    def outer(self, closure=None):
        return step(self, closure and torch.enable_grad()(closure))

    return outer
