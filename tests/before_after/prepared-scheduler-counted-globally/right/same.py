import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup


def before(model, loader, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader) * epochs)
    return accelerator.prepare(model, optimizer, loader, scheduler)


def multiplied(model, loader, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    steps = len(loader) * epochs * accelerator.num_processes
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, steps)
    return accelerator.prepare(scheduler)


def unprepared(model, loader, epochs):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    return get_linear_schedule_with_warmup(optimizer, 0, len(loader) * epochs)
