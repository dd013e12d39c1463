import torch


def train(batches, lr=0.05):
    w = torch.full((8, 1), 0.5, requires_grad=True)
    for x, y in batches:
        loss = (x @ w - y).square().mean()
        loss.backward()
        w -= lr * w.grad
        w.clamp_(min=0.0)
        w.grad = None


def decay(batches, lr=0.05):
    v = torch.full((8, 1), 0.5, requires_grad=True)
    for x, y in batches:
        loss = (x @ v - y).square().mean()
        loss.backward()
        v *= 1 - lr
        v -= lr * v.grad
        v.grad = None


def first(batches, lr=0.05):
    u = torch.full((8, 1), 0.5, requires_grad=True)
    for x, y in batches:
        loss = (x @ u - y).square().mean()
        loss.backward()
        u.sub_(lr * u.grad)
        u[0] = 0.0
        u.grad = None


if __name__ == "__main__":
    data = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(2)]
    train(data)
    decay(data)
    first(data)
