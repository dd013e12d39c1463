import torchvision
from somewhere import *
from torch import nn


class Shadow(nn.Module):
    def __init__(self, torchvision):  # shadow: a parameter of that name
        super().__init__()
        self.shadowed = torchvision.models.resnet18()
        self.shadowed.eval()
        self.shadowed.requires_grad_(False)

    def forward(self, x):
        return self.shadowed(x)


class Star(nn.Module):
    def __init__(self):
        super().__init__()
        self.starred = resnet18()  # star: nobody knows what the import brings
        self.starred.eval()
        self.starred.requires_grad_(False)

    def forward(self, x):
        return self.starred(x)


class Splat(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.spread = torchvision.models.resnet18(*args)  # splat: another layer may stand for the normalization
        self.spread.eval()
        self.spread.requires_grad_(False)

    def forward(self, x):
        return self.spread(x)


class Keyword(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.given = torchvision.models.resnet18(**options)  # keyword: the same
        self.given.eval()
        self.given.requires_grad_(False)
        self.other = torchvision.models.resnet18(norm_layer=nn.InstanceNorm2d)
        self.other.eval()
        self.other.requires_grad_(False)

    def forward(self, x):
        return self.given(x) + self.other(x)


def main(body):
    shadow = Shadow(body)
    shadow.train()
    star = Star()
    star.train()
    splat = Splat(body)
    splat.train()
    keyword = Keyword()
    keyword.train()
