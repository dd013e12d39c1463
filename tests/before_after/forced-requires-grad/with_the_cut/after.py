# fixer: unsafe with=GRD001+GRD002
import torch
import torch.nn.functional as F


def build_model():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in batches:
        optimizer.zero_grad()
        if len(history) % 2:
            loss = F.mse_loss(model(x), y)
            loss.backward()
        else:
            loss = F.mse_loss(model(x), y)
            loss.backward()
        optimizer.step()
        history.append(loss.item())
    F.mse_loss(model(x), y).backward()
    return history
