"""The second loop trains the unwrapped model with an optimizer that nobody prepared: a raw backward is right there.

Run on the CPU with four accumulation steps (torch 2.13, Accelerate 1.15): with `accelerator.backward` the gradients of
the second loop are a quarter of these.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator


def main(loader, steps=4):
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=4)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

    model = accelerator.unwrap_model(model).requires_grad_(False)
    head = model[-1].requires_grad_(True)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
    for _ in range(steps):
        x, y = torch.randn(16, 16), torch.arange(4).repeat(4)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
