from functools import singledispatch

import torch
from torch.cuda.amp import GradScaler


@singledispatch
def descend(how, loss, optimizer):
    loss.backward()
    optimizer.step()


@descend.register
def _(how: GradScaler, loss, optimizer):
    how.scale(loss).backward()
    how.step(optimizer)
    how.update()


def train(model, optimizer, batches):
    how = GradScaler()
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        descend(how, loss, optimizer)
