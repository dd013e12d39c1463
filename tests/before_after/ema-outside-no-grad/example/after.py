import copy

import torch


def update(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        with torch.no_grad():
            e.mul_(decay).add_(p, alpha=1 - decay)


def train(model, batches, lr=0.1, decay=0.9):
    ema = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update(ema, model, decay)
        losses.append(loss.item())
    return ema, losses


if __name__ == "__main__":
    train(torch.nn.Linear(8, 1), [])
