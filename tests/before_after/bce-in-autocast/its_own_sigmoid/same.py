import torch
import torch.nn.functional as F


class Scaled:
    def __init__(self, logits, temperature):
        self.logits, self.temperature = logits, temperature

    def sigmoid(self):
        return torch.sigmoid(self.logits / self.temperature)


def train(model, x, y):
    with torch.autocast("cuda"):
        return F.binary_cross_entropy(Scaled(model(x), 2.0).sigmoid(), y)
