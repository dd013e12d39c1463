# fixer: unsafe
from contextlib import nullcontext

import torch

ACCUMULATE = 4


def arms(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(batches):
        if step % 4:
            with model.no_sync():
                model(batch).mean().backward()
        else:
            model(batch).mean().backward()
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def kept(model, scaler, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(batches, start=1):
        manager = model.no_sync if (step + 1) % ACCUMULATE != 0 else nullcontext
        with manager():
            scaler.scale(model(batch).mean()).backward()
        if not step % ACCUMULATE:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
