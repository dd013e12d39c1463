import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup


def train(model, loader, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    steps = len(loader) * epochs
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, steps)
    scheduler = accelerator.prepare(scheduler)
    for x, y in loader:
        accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
