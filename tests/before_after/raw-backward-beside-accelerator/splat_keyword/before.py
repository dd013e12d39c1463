# fixer: unsafe
import torch
from accelerate import Accelerator


def main(parts, loader, **kwargs):
    accelerator = Accelerator(**kwargs)
    model, optimizer = accelerator.prepare(*parts)
    for batch in loader:
        loss = model(batch)
        loss.backward(gradient=torch.ones_like(loss), **kwargs)
        optimizer.step()
