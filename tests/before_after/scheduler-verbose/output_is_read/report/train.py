import copy

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from watch import said


def train(model, batches, epochs=20):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = ReduceLROnPlateau(optimizer, patience=2, factor=0.5, verbose=True)
    best, weights = float("inf"), None
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if total < best:
            best, weights = total, copy.deepcopy(model.state_dict())
        if said(scheduler.step, total):
            model.load_state_dict(weights)
    return best
