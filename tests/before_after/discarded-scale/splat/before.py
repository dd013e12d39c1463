# fixer: unsafe
import torch


def train(model, optimizer, loader, options):
    scaler = torch.amp.GradScaler("cuda", **options)
    for batch in loader:
        loss = model(*batch)
        scaler.scale((loss))
        loss.backward(**options["backward"])
        scaler.step(optimizer)
        scaler.update()
