from contextlib import nullcontext

import torch


def right(model, batches, n, last):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(batches):
        with model.no_sync() if (step + 1) % n != 0 else nullcontext():
            model(batch).mean().backward()
        if step % n == n - 1:
            optimizer.step()
            optimizer.zero_grad()
    for step, batch in enumerate(batches):
        with nullcontext() if (step + 1) % n == 0 or step == last else model.no_sync():
            model(batch).mean().backward()
        if (step + 1) % n == 0 or step == last:
            optimizer.step()
            optimizer.zero_grad()
    for step, batch in enumerate(batches):
        with nullcontext() if (step + 5) % 4 == 0 else model.no_sync():
            model(batch).mean().backward()
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    for step, batch in enumerate(batches):
        with nullcontext() if step % 2 == 0 else model.no_sync():
            model(batch).mean().backward()
        if step % 100 == 0:
            print(step)
        optimizer.step()
