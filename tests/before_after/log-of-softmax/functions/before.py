import torch
from torch import log
from torch import softmax as st
from torch.nn.functional import softmax as sm


def losses(z, y, index):
    a = sm(z, 1).log()
    b = z.softmax(dim=-1).log()
    c = log(torch.softmax(z, -1, dtype=torch.float32))
    d = (torch.special.softmax(z, -1)).log().gather(1, index)
    e = -torch.sum(y * torch.log(torch.nn.functional.softmax(
        z,  # of the classes
        dim=1,
    )))
    f = st(z, -1, torch.float32).log()
    return a, b, c, d, e, f
