import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Noisy(nn.Module):
    def forward(self, x, *rest):
        return x * random.random()


class Clean(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x)


class Patched(Clean):
    def __init__(self):
        super().__init__()
        self.forward = Noisy()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def body(self, x):
        return self.linear(x)

    def forward(self, x):
        return checkpoint(self.body, x)


class NoisyHead(Head):
    def body(self, x):
        return super().body(x) * random.random()


class Model(nn.Module):
    def __init__(self, kind, norm=None):
        super().__init__()
        self.empty = nn.ModuleList()
        self.grown = nn.Sequential(nn.Linear(8, 8))
        self.grown.add_module("noise", Noisy())
        self.encoder = nn.TransformerEncoder(Noisy(), 2)
        self.swish = nn.Sequential(nn.SiLU(inplace=True), nn.Linear(8, 8))
        self.patched = Patched()
        self.either = Clean() if kind == "clean" else Noisy()
        self.named = getattr(self, kind)
        self.norm = norm or nn.LayerNorm(8)
        self.generator = torch.Generator()
        self.weighted = nn.utils.spectral_norm(nn.Linear(8, 8))

    def later(self, layers):
        self.empty.extend(layers)

    def sampled(self, x):
        return x * torch.rand(8, generator=self.generator)

    def collected(self, x):
        self.outputs.append(x)
        return x

    def counted(self, x):
        global calls
        calls = calls + 1
        return self.either(x)

    def forward(self, x):
        for layer in self.empty:
            x = checkpoint(layer, x)
        x = checkpoint(self.grown, x)
        x = checkpoint(self.encoder, x)
        x = checkpoint(self.swish, x)
        x = checkpoint(self.patched, x)
        x = checkpoint(self.either, x)
        x = checkpoint(self.named, x)
        x = checkpoint(self.norm, x)
        x = checkpoint(self.sampled, x)
        x = checkpoint(self.collected, x)
        x = checkpoint(self.counted, x)
        x = checkpoint(self.weighted, x)
        return checkpoint(self.missing, x)
