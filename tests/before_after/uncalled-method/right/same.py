import torch
import torch.nn as nn


class Lazy(nn.Module):
    @property
    def train(self):
        self.ready = True


def main(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = optimizer.step
    model(x).mean().backward()
    step()
    optimizer.zero_grad()
    optimizer.param_groups
    lazy = Lazy()
    lazy.train
    return lazy
