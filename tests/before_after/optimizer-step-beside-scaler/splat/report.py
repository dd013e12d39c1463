import torch


def train(model, loader, arguments):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(*batch)).backward()
        optimizer.step(*arguments)
        scaler.update()
