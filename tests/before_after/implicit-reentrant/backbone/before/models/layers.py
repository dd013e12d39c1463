from functools import partial

import torch
import torch.nn as nn


class DropPath(nn.Module):
    """Stochastic depth by torch's random numbers, which a recomputation repeats."""

    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = 1 - self.drop_prob
        mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
        mask.div_(keep)
        return x * mask


class ConvBNReLU(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(inplace=True))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("bias", torch.zeros(heads, 1, 1))

    @property
    def scale(self):
        return (self.qkv.in_features // self.heads) ** -0.5

    def forward(self, x):
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q * self.scale @ k.transpose(-2, -1) + self.bias).softmax(dim=-1)
        return (weights @ v).transpose(1, 2).reshape(batch, length, dim)


class Block(nn.Module):
    def __init__(self, dim, heads, drop_path=0.0, act_layer=nn.GELU, norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, heads)
        self.drop_path = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.mlp = make_mlp(dim, act_layer)
        self.conv = ConvBNReLU(dim)

    def forward(self, x):
        parts = []
        for branch in (self.attn, self.mlp):
            parts.append(self.drop_path(branch(self.norm1(x))))
        total = 0
        for part in parts:
            total += part
        out = torch.zeros_like(x)
        out[:, :1] = total[:, :1]
        return x + total + out + self.conv(x.transpose(1, 2)).transpose(1, 2)


def make_mlp(dim, act_layer):
    return nn.Sequential(nn.Linear(dim, 2 * dim), act_layer(), nn.Linear(2 * dim, dim))
