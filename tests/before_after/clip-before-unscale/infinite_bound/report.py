"""A clip with an infinite bound multiplies by one at most: it is asked whether the norm is finite, which no scale changes."""

import math
import sys

import torch
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_

NO_BOUND = float("inf")


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    overflows = 0
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        overflows += not torch.isfinite(clip_grad_norm_(model.parameters(), NO_BOUND))
        scaler.step(optimizer)
        scaler.update()
    return overflows


def count(model, optimizer, x, y):
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    norm = clip_grad_norm_(model.parameters(), max_norm=math.inf)
    scaler.step(optimizer)
    scaler.update()
    return norm


def told(model, optimizer, x, y):
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    norm = clip_grad_norm_(model.parameters(), max_norm=sys.float_info.max)
    scaler.step(optimizer)
    scaler.update()
    return norm
