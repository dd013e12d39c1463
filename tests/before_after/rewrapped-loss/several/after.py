import torch
import torch.nn.functional as F


def build_model():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in batches:
        fit = F.mse_loss(model(x), y)
        smooth = 0.1 * F.l1_loss(model(x + 0.1), model(x))
        optimizer.zero_grad()
        loss = torch.stack([fit, smooth]).sum()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history
