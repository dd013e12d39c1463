# fixer: unsafe
import torch


class Heads(torch.nn.Sequential):
    """A class of torch that is one of modules gives what extends it the same `parameters()`."""

    def __init__(self, width, tasks):
        super().__init__(torch.nn.Linear(width, width), torch.nn.ReLU())
        self.heads = torch.nn.ModuleList([torch.nn.Linear(width, 1) for _ in range(tasks)])

    def forward(self, x):
        hidden = super().forward(x)
        return [head(hidden) for head in self.heads]
