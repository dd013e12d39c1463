import functools

import torch


def with_gradients(step):
    @functools.wraps(step)
    def stepped(self, closure=None):
        return step(self, closure and torch.enable_grad()(closure))

    return stepped
