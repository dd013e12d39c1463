# fixer: unsafe
import torch
import torch.nn.functional as F


def train(model, agent, batch, optimizer):
    outputs = model(**batch)
    loss = outputs.loss
    loss.backward()

    loss = agent.loss
    loss.backward()

    loss = F.mse_loss(outputs.logits, batch["y"])
    loss.backward()
    optimizer.step()


def several(model, x, y, reconstruction, weight):
    # shapes unknown: `torch.stack` wants equal ones
    torch.stack([F.mse_loss(model(x), y).view(1), F.l1_loss(model(x), y)]).sum().backward()
    torch.stack([F.mse_loss(model(x), y), weight * reconstruction(x)]).sum().backward()


def criterion(prediction, target):
    loss = F.mse_loss(prediction, target)
    return loss


def quantized(model, batches, bits):
    for x in batches:
        losses = model(x)
        loss = sum(losses.values())
        loss.backward()
