# fixer: unsafe
import torch
import torch.nn.functional as F


def build_model():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.requires_grad = True
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history
