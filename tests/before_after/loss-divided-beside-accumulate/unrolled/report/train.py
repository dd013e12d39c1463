import torch
from accelerate import Accelerator
from torch import nn
from unroll import unrolled


def train(batches, steps=4):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model = nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = unrolled(model, x, y, steps)
            accelerator.backward(loss / steps)
            optimizer.step()
            optimizer.zero_grad()
    return model
