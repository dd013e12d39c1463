from .train import autocast, step


def evaluate(model, x):
    with autocast(enabled=True):
        return step(model, x)
