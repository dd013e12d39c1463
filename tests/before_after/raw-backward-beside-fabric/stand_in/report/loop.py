from __future__ import annotations

import typing

import torch.nn.functional as F

if typing.TYPE_CHECKING:
    from lightning.fabric import Fabric


def fit(fabric: Fabric, model, optimizer, batches):
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    fabric.print("done")
    return model
