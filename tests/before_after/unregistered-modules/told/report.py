from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = (nn.Linear(4, 4), nn.Linear(4, 4))
        self.sorted = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        self.sorted.reverse()
        return self.pair[0](x) + self.sorted[1](x)
