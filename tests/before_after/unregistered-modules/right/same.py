import torch
from torch import nn


class Index(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for i in range(2):
            layer = nn.Linear(4, 4)
            self.add_module(f"layer{i}", layer)
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Order(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = [nn.Linear(4, 4) for _ in range(2)]
        self.order = blocks
        self.all = [nn.Linear(4, 4), nn.Linear(4, 4)]
        self.both = nn.Sequential(*self.all)

    def forward(self, x):
        for block in self.order:
            x = block(x)
        return x + self.all[0](x)


class Others(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.net = nn.ModuleList([nn.Linear(4, 4)])
        self.teacher = [teacher]
        self.kinds = [nn.ReLU, nn.GELU]
        self.acts = [nn.ReLU(), nn.GELU()]
        self.losses = {"a": nn.MSELoss(), "b": nn.L1Loss()}
        self.unused = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        for act in self.acts:
            x = act(x)
        return self.net[0](x) + self.teacher[0](x) + self.losses["a"](x, x)


class Rounding(nn.Module):
    def forward(self, x):
        return x.round()


class Processed(nn.Module):
    def __init__(self):
        super().__init__()
        self.processors = {"a": Rounding(), "b": Rounding()}

    def forward(self, x):
        return self.processors["a"](x)
