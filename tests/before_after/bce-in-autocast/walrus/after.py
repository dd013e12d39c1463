# fixer: unsafe
import torch
import torch.nn.functional as F


def train(model, x, y):
    with torch.autocast("cuda"):
        loss = F.binary_cross_entropy_with_logits(input=(z := model(x)), target=y)
    return loss, z
