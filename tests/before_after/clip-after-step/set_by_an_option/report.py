"""The bound of an option may be infinite, so that only the norm is asked for."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--cap", type=float, default=float("inf"))
args = parser.parse_args()


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        print(nn.utils.clip_grad_norm_(model.parameters(), args.cap))
