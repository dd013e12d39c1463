import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, optimizer):
    with torch.autocast("cuda"):
        for x, y in batches:
            loss = F.mse_loss(model(x.cuda()), y.cuda())
            loss.backward()
            if optimizer.step() is None:
                continue
