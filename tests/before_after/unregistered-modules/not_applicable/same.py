from somewhere import *
from torch import nn


class Plain:
    def __init__(self):
        self.blocks = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        return self.blocks[0](x)


class Shadowed(nn.Module):
    def __init__(self, nn):  # shadow: a parameter of that name
        super().__init__()
        self.blocks = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        return self.blocks[0](x)


class Star(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(), Block()]  # star: nobody knows what it is

    def forward(self, x):
        return self.blocks[0](x)


class Splat(nn.Module):
    def __init__(self, *blocks, **more):
        super().__init__()
        self.blocks = [*blocks]  # splat: made elsewhere
        self.more = {**more}  # keyword: the same

    def forward(self, x):
        return self.blocks[0](x) + self.more["a"](x)
