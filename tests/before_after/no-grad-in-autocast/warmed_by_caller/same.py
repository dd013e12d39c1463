# fixer: target=torch==2.4.1
"""The caller has run the model with gradients in the same region before it calls the helper."""

import torch


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 8)

    def consistency(self, x):
        with torch.no_grad():
            target = self.model(x)
        return (self.model(x) - target).pow(2).mean()

    def losses(self, x):
        with torch.autocast("cuda"):
            supervised = self.model(x).mean()
            return supervised + self.consistency(x)
