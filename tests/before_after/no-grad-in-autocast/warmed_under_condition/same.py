# fixer: target=torch==2.4.1
"""A forward pass with gradients comes first, if only under a condition: the cache then holds copies with a graph."""

import torch


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 8)

    def losses(self, x, warm):
        with torch.autocast("cuda"):
            loss = 0.0
            if warm:
                loss = self.model(x).mean()
            with torch.no_grad():
                target = self.model(x)
            return loss + (self.model(x) - target).pow(2).mean()
