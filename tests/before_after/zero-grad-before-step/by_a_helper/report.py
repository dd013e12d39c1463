import torch
import torch.nn.functional as F


def backward(loss, optimizer):
    loss.backward()
    optimizer.zero_grad()


def train(model, optimizer, batches, kind):
    for x, y in batches:
        out = model(x)
        if kind == "plain":
            extra = 0.0
        elif kind == "squared":
            extra = out.pow(2).mean()
        elif kind == "absolute":
            extra = out.abs().mean()
        else:
            raise NotImplementedError(kind)
        backward(F.mse_loss(out, y) + extra, optimizer)
        optimizer.step()


def main():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
    for _ in range(3):
        train(model, optimizer, batches, "plain")
