import torch


def train(batches, lr):
    torch.manual_seed(0)
    w = torch.randn(8, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    losses = []
    for x, y in batches:
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad = None
        b.grad = None
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    train([(torch.randn(4, 8), torch.randn(4, 1))], 0.1)
