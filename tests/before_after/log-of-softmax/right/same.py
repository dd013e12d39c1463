import math

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import softmax as of_scipy


def right(z):
    a = F.log_softmax(z, dim=-1)
    b = torch.log(F.softmax(z, dim=-1) + 1e-8)
    c = torch.log(F.softmax(z, dim=-1).clamp(min=1e-6))
    d = np.log(of_scipy(z))
    p = F.softmax(z, dim=-1)
    e = -(p * torch.log(p)).sum()
    f = torch.log10(F.softmax(z, dim=-1))
    g = math.log(F.softmax(z, dim=-1)[0, 0])
    h = torch.log(F.softmax(z, dim=-1), out=a)
    return b, c, d, e, f, g, h
