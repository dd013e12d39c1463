import torch
from torch.nn.utils import clip_grad_norm_


def right(model, batches, flag):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = list(model.parameters())
    for x, y in batches:
        model(x).mean().backward()
        clip_grad_norm_(model.parameters(), 1.0)
        clip_grad_norm_(kept, 1.0)
        optimizer.step()
    params = model.parameters()
    total = sum(p.numel() for p in params)
    params = model.parameters()
    other = torch.optim.Adam(params)
    for _ in range(2):
        fresh = model.parameters()
        clip_grad_norm_(fresh, 1.0)
    either = model.parameters()
    if flag:
        last = torch.optim.SGD(either, lr=0.1)
    else:
        last = torch.optim.Adam(either)
    named = dict(model.named_parameters())
    print(len(named), sum(p.numel() for p in named.values()))
    weights = [p for p in model.parameters() if p.requires_grad]
    return total, other, last, torch.optim.SGD(weights), torch.optim.Adam(weights)


def first(model):
    params = model.parameters()
    device = next(params).device
    params = model.parameters()
    return device, torch.optim.SGD(params, lr=0.1)
