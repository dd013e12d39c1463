import torch


def train(model, optimizers, scaler: torch.amp.GradScaler, loader, max_norm):
    for batch in loader:
        model.zero_grad()
        scaler.scale(model(batch)).backward()
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
