import torch
from accelerate import Accelerator


def train(model, batches, precision):
    accelerator = Accelerator(mixed_precision=precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        accelerator.backward(model(x).mean())
        if accelerator.sync_gradients:
            torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
