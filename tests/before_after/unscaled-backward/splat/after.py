# fixer: unsafe
import torch


def train(model, optimizer, loader, options):
    scaler = torch.amp.GradScaler(**options["scaler"])
    for batch in loader:
        loss = model(*batch)
        scaler.scale(loss).backward(*options["args"], **options["kwargs"])
        scaler.step(optimizer)
        scaler.update()
