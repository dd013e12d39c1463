import torch


def train(model, centers, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    center_optimizer = torch.optim.SGD(centers.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(centers(model(batch))).backward()
        scaler.step(optimizer)
        center_optimizer.step()
        scaler.update()
