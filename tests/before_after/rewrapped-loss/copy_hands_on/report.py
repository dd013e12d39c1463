import torch
import torch.nn.functional as F
from torch import nn


def train(batches, penalty=0.1):
    """The gate of the loss is differentiated by itself; its hook hands the gradient to the real graph."""
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        cut = torch.tensor(loss, requires_grad=True)
        cut.register_hook(loss.backward)
        cut.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


if __name__ == "__main__":
    torch.manual_seed(0)
    w = torch.randn(8, 1)
    xs = [torch.randn(16, 8) for _ in range(100)]
    print(train([(x, x @ w) for x in xs])[1][-1])
