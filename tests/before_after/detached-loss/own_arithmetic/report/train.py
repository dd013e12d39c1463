import torch.nn.functional as F
from window import Window


def train(cell, head, series, optimizer, state):
    loss = Window()
    loss.state = state
    for x, y in series:
        loss.state = cell(x, loss.state)
        loss += F.mse_loss(head(loss.state), y)
        optimizer.zero_grad()
        loss.detach().backward()
        optimizer.step()
