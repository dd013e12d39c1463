import operator

import torch


def pretrain(model, batches, method="step_on", lr=0.05):
    """A few plain steps before the Trainer takes over."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for batch in batches:
        operator.methodcaller(method, batch, optimizer)(model)
    return model
