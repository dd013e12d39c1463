import copy

from torch import nn
import torch


class Averaging:
    def __init__(self, model, decay):
        self.model, self.average, self.decay = model, copy.deepcopy(model), decay

    def step(self):
        for (_, e), (_, p) in zip(self.average.named_parameters(), self.model.named_parameters()):
            e.lerp_(p, 1 - self.decay)


def main(batches):
    model = nn.Linear(8, 1)
    averaging = Averaging(model, 0.99)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        averaging.step()


main([])
