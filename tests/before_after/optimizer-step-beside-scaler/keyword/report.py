import torch


def train(model, loader, closure):
    optimizer = torch.optim.LBFGS(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimizer.step(closure=closure)
        scaler.update()
