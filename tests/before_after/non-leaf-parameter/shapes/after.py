# fixer: unsafe
import torch
from torch.nn import Module, Parameter


class Tokens(Module):
    def __init__(self, dim, std):
        super().__init__()
        self.cls = Parameter(torch.zeros(dim).unsqueeze(0).unsqueeze(0))
        self.position = Parameter(std * torch.randn(16, dim))
        self.bias = Parameter((torch.zeros(dim) if std else torch.ones(dim)).cuda())
        # one for each channel
        self.gain = Parameter(torch.ones(dim).view(1, -1))
        self.shift = Parameter(-torch.rand(dim))
