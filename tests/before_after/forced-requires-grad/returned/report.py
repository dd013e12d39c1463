import torch
import torch.nn.functional as F


def loss_fn(warped, target):
    loss = torch.mean((target - warped).float())
    loss.requires_grad = True
    return loss


def cross_entropy(logits, labels):
    loss = F.cross_entropy(logits, labels)
    loss.requires_grad_()
    return loss


def train(model, x, y):
    loss_fn(model(x), y).backward()
