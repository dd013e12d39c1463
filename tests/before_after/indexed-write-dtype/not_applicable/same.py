import torch
from somewhere import *


def shadow(x, w, torch, target):  # shadow: a parameter is called as the module
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = torch.zeros(16, 4)
        out.scatter_add_(0, target, torch.matmul(x, w))
    return out


def star(x, w, target):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = zeros(16, 4)  # star: nobody knows what the import brings
        out.scatter_add_(0, target, x @ w)
    return out


def splat(x, w, options, target):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = torch.zeros(16, 4, **options)  # splat: a type may be among them
        out.scatter_add_(0, target, x @ w)
    return out


def keyword(x, w, target):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = torch.zeros(16, 4, dtype=x.dtype)  # keyword: the type of another tensor
        out.scatter_add_(0, target, x @ w)
    return out
