import torch
from torch.nn import functional as F


def scattered(x, w, target):
    with torch.autocast("cuda", dtype=torch.float16):
        out = torch.zeros(16, 4, dtype=torch.float32, device="cuda")
        out.scatter_add_(0, target, torch.matmul(x, w).to(out.dtype))
        out.index_copy_(0, torch.arange(3), F.linear(x, w.t()).view(3, 4).to(out.dtype))
        out.index_put_((torch.tensor([0, 2]),), (x @ w)[:2])
        out[torch.randperm(3)] = (x @ w).to(out.dtype)
    return out
