import copy

import torch


def wrapped(optimizer):
    return optimizer


def adapt(server, clients):
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    kept = []
    for batch in clients:
        model = copy.deepcopy(server)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler.scale(model(batch)).backward()
        scaler.step(wrapped(optimizer))
        kept.append((model, optimizer))
    return kept
