import torch

torch.set_default_dtype(torch.bfloat16)


def gathered(x, w, target):
    x, w = x.cuda(), w.cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = torch.zeros(16, 4, device="cuda")
        out.scatter_add_(0, target, x @ w)
    return out
