import torch
import torch.nn.functional as F
from torch import nn


def train(batches, lr=0.1):
    """The margin is a number of its own that begins at the loss of an untrained model, and is trained downwards."""
    model = nn.Linear(8, 1)
    x, y = batches[0]
    margin = torch.tensor(F.mse_loss(model(x), y), requires_grad=True)
    bounds = torch.optim.SGD([margin], lr=0.01)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    history = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.relu(F.mse_loss(model(x), y) - margin.item())
        if loss > 0:
            loss.backward()
            optimizer.step()
        bounds.zero_grad()
        margin.backward()
        bounds.step()
        history.append(margin.item())
    return model, history


if __name__ == "__main__":
    torch.manual_seed(0)
    xs = [torch.randn(16, 8) for _ in range(40)]
    print(train([(x, x.sum(1, keepdim=True)) for x in xs])[1][::10])
