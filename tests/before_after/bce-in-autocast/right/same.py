import torch
import torch.nn.functional as F


def train(model, x, y, probabilities):
    with torch.autocast("cuda"):
        first = F.binary_cross_entropy_with_logits(model(x), y)
        with torch.autocast("cuda", enabled=False):
            second = F.binary_cross_entropy(torch.sigmoid(model(x).float()), y)
        hard = torch.sigmoid(model(x)) > 0.5
    third = F.binary_cross_entropy(torch.sigmoid(model(x)), y)
    return first, second, third, hard, probabilities


def evaluate(model, x, y):
    with torch.autocast("cpu", enabled=False):
        return F.binary_cross_entropy(torch.sigmoid(model(x)), y)
