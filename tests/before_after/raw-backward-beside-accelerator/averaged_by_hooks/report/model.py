import torch

ACCUMULATE = 4


class Net(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.body = torch.nn.Linear(width, 32)
        self.head = torch.nn.Linear(32, 1)
        for p in self.parameters():
            p.register_hook(average)

    def forward(self, x):
        return self.head(self.body(x).relu())


def average(grad):
    """Each micro-batch counts for its share of the step."""
    return grad / ACCUMULATE
