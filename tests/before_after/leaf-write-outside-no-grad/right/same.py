import torch


@torch.no_grad()
def decorated(model, lr):
    for p in model.parameters():
        p -= lr * p.grad


def called_with_gradients_off(model, lr):
    for p in model.parameters():
        p -= lr * p.grad


def right(model, lr, x):
    model(x).mean().backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= lr * p.grad
        called_with_gradients_off(model, lr)
    for p in model.parameters():
        p.data -= lr * p.grad
        p.grad += 0.1 * p.grad
    fast = [p - lr * p.grad for p in model.parameters()]
    total = torch.zeros(1)
    for p in model.parameters():
        total += p.grad.norm()
    return fast, total
