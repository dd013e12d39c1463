from contextlib import nullcontext

import torch


def right(model, x, use, manager):
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        a = model(x)
    with torch.autocast("cpu") if use else nullcontext():
        b = model(x)
    with manager or nullcontext():
        c = model(x)
    with use and torch.autocast("cpu") or nullcontext():
        d = model(x)
    with torch.autocast("cpu", enabled=use and x.is_floating_point()):
        e = model(x)
    return a, b, c, d, e
