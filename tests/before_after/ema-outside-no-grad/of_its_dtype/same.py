import torch


def update(average, model, decay):
    for kept, trained in zip(average.parameters(), model.parameters(), strict=True):
        if not trained.requires_grad:
            kept.copy_(trained.to(dtype=kept.dtype).data)
        with torch.no_grad():
            kept.mul_(decay).add_(trained, alpha=1 - decay)
