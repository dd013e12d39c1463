import torch


def train(model, optimizer, loader, options):
    scaler = torch.amp.GradScaler("cuda", **options)
    for batch in loader:
        scaler.scale(model(*batch)).backward()
        skipped = scaler.step(optimizer, **options)
        scaler.update()
        print(skipped)
