import time

import numpy as np
import torch
from einops import rearrange
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from transformers.activations import ACT2FN

from my_kernels import fused_attention

STATS = {}


class Timed(nn.Module):
    def forward(self, x):
        start = time.time()
        y = x.relu()
        STATS["relu"] = time.time() - start
        return y


class Printing(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        self.calls += 1
        return self.norm(x)


class Noisy(nn.Module):
    def forward(self, x):
        return x + np.random.randn() * x


class Logged(nn.Module):
    def forward(self, x):
        breakpoint(x.shape)
        return x * 2


class Writes(nn.Module):
    def forward(self, x, mask):
        mask[:, 0] = 1
        return x * mask


class InPlace(nn.Module):
    def forward(self, x):
        x += 1
        return x.exp()


class Model(nn.Module):
    def __init__(self, block, width):
        super().__init__()
        self.block = block
        self.timed, self.noisy, self.logged = Timed(), Noisy(), Logged()
        self.printing = Printing()
        self.writes = Writes()
        self.in_place = InPlace()
        self.act = ACT2FN["gelu"]
        self.linear = nn.Linear(width, width)
        self.scripted = torch.jit.script(nn.Linear(width, width))

    def attend(self, x):
        return fused_attention(rearrange(x, "b n (h d) -> b h n d", h=2))

    def clean(self, x):
        return self.act(self.linear(x)).add(1)

    def forward(self, x, mask, fn):
        x = checkpoint(self.block, x)
        x = checkpoint(self.timed, x)
        x = checkpoint(self.noisy, x)
        x = checkpoint(self.logged, x)
        x = checkpoint(self.printing, x)
        x = checkpoint(self.writes, x, mask)
        x = checkpoint(self.in_place, x)
        x = checkpoint(self.attend, x)
        x = checkpoint(self.scripted, x)
        x = checkpoint(lambda x: self.printing(self.linear(x)), x)
        x = checkpoint_sequential([self.linear, fn], 2, x)
        return checkpoint(self.clean, x, preserve_rng_state=False)
