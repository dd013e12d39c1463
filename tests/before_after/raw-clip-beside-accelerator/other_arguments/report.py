import torch
from accelerate import Accelerator


def train(model, batches):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        accelerator.backward(model(x).mean())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad()
