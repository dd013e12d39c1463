# shadow: the rule looks at methods of tensors, no name of a library is resolved but a dtype's
# star: a dtype by star import is unknown, and then nothing is found
# splat: the calls take one flag
# keyword: the same
from torch import *
from torch import nn


class Layer(nn.Module):
    def forward(self, x, *args, **kwargs):
        x = x.to(float32)
        x.requires_grad_()
        y = x.to(*args, **kwargs)
        y.requires_grad_()
        return y
