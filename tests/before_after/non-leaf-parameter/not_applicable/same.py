import torch
from somewhere import *
from torch import nn


class Shadow(nn.Module):
    def __init__(self, Parameter):  # shadow: a parameter of that name
        super().__init__()
        self.a = Parameter(torch.zeros(3)) * 2


class Star(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Learned(torch.zeros(3)) * 2  # star: nobody knows what the import brings


class Splat(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.a = nn.Parameter(*args) * 2  # splat: nobody knows whether it is trained


class Keyword(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(3), **options) * 2  # keyword: the same
