import torch


def gathered(x, w, target, mixed):
    x, w = x.cuda(), w.cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=mixed):
        out = torch.zeros(16, 4, device="cuda")
        out.scatter_add_(0, target, x @ w)
    return out


def measured(x, w):
    with torch.autocast("cuda", enabled=False):
        return x @ w
