import torch

import sign


class _GradientsInClosure:
    def step(self, closure=None):
        if closure is not None:
            closure = torch.enable_grad()(closure)
        return super().step(closure)


def trainable(kind):
    return type(kind.__name__, (_GradientsInClosure, kind), {})


Lion = trainable(sign.Lion)
