import torch
from torch.utils.checkpoint import checkpoint


class Asked(torch.nn.Module):
    """The first pass of reentrant checkpointing runs without gradients, that of the other variant with them."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def block(self, x):
        if torch.is_grad_enabled():
            x = torch.sin(x)
        return self.layer(x)

    def forward(self, x):
        return checkpoint(self.block, x)


class Switched(torch.nn.Module):
    """`eval()` between forward and backward: the recomputation has no dropout, which the other variant refuses."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(), torch.nn.Tanh())

    def forward(self, x):
        y = checkpoint(self.layer, x)
        self.layer.eval()
        return y


class Deepened(torch.nn.Module):
    """An attribute that the block reads changes before the recomputation."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.deep = False

    def block(self, x):
        return torch.tanh(self.layer(x)) if self.deep else self.layer(x)

    def forward(self, x):
        y = checkpoint(self.block, x)
        self.deep = True
        return y
