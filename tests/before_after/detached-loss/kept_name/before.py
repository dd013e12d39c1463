# fixer: unsafe
import torch


def train(model, optimizer, batches):
    history = []
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss = loss.detach()
        loss.backward()
        optimizer.step()
        history.append(loss)
    return history
