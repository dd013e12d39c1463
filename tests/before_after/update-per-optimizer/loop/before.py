# fixer: unsafe
import torch


def train(first, second, loader, scaler):
    optimizers = [torch.optim.SGD(first.parameters(), lr=0.05), torch.optim.SGD(second.parameters(), lr=0.05)]
    for inputs, targets in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        for model in (first, second):
            scaler.scale(torch.nn.functional.mse_loss(model(inputs), targets)).backward()
        for optimizer in optimizers:
            scaler.step(optimizer)
            scaler.update()
