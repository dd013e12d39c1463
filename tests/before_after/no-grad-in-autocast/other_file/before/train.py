import torch
import torch.nn.functional as F
from targets import pseudo_labels


def loss_of(net, x):
    target = pseudo_labels(net, x)
    return F.mse_loss(net(x + 0.1), target)


def train(net, batches, optimizer):
    for x in batches:
        with torch.autocast("cuda"):
            loss = loss_of(net, x)
        loss.backward()
        optimizer.step()
