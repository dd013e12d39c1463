import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, optimizer, autocast):
    with autocast("cuda"):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


def rebinds(model, batches, optimizer, copies):
    with torch.autocast("cuda"):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            model = next(copies)
