import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.compile(fullgraph=True)
def train(model, batches, optimizer):
    with torch.autocast("cuda"):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
