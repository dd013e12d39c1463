import torch
import torch.nn.functional as F


def train(model, agent, batch, optimizer):
    outputs = model(**batch)
    loss = torch.tensor(outputs.loss, requires_grad=True)
    loss.backward()

    loss = agent.loss
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()

    loss = F.mse_loss(outputs.logits, batch["y"])
    torch.tensor(loss.item(), requires_grad=True).backward()
    optimizer.step()


def several(model, x, y, reconstruction, weight):
    # shapes unknown: `torch.stack` wants equal ones
    torch.tensor([F.mse_loss(model(x), y).view(1), F.l1_loss(model(x), y)]).sum().backward()
    torch.tensor([F.mse_loss(model(x), y), weight * reconstruction(x)], requires_grad=True).sum().backward()


def criterion(prediction, target):
    loss = F.mse_loss(prediction, target)
    loss = torch.tensor(loss, requires_grad=True)
    return loss


def quantized(model, batches, bits):
    for x in batches:
        losses = model(x)
        loss = sum(losses.values())
        if bits:
            loss = torch.autograd.Variable(loss, requires_grad=True)
        loss.backward()
