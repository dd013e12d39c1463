import torch
import torch.nn.functional as F


def train(model, batches, optimizer, device):
    with torch.autocast("cuda"):
        for x, y in batches:
            x, y = x.to(device).permute(0, 2, 1), y.to(device).long()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
