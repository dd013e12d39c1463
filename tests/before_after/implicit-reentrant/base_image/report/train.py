import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange
from torch.utils.checkpoint import checkpoint


class Mixer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.tokens, self.channels = nn.Linear(tokens, tokens), nn.Linear(width, width)

    def forward(self, x):
        x = x + rearrange(self.tokens(rearrange(x, "b t c -> b c t")), "b c t -> b t c")
        return x + F.gelu(self.channels(x))


class Net(nn.Module):
    def __init__(self, tokens=64, width=128, depth=6):
        super().__init__()
        self.stem = nn.Linear(16, width)
        self.blocks = nn.ModuleList(Mixer(tokens, width) for _ in range(depth))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x)
        return self.head(x.mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(args.epochs):
        x, y = torch.randn(32, 64, 16).cuda(), torch.randint(10, (32,)).cuda()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
