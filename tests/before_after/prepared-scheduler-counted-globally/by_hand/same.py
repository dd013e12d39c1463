import torch
from accelerate import Accelerator


def train(model, loader, epochs):
    accelerator = Accelerator(step_scheduler_with_optimizer=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader) * epochs)
    return accelerator.prepare(scheduler)
