# fixer: strategy=preserve
import torch
import torch.utils.checkpoint as cp


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        return cp.checkpoint(self.layer, x, use_reentrant=True)


class Guarded(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.with_cp = True
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        if self.with_cp and x.requires_grad:
            return cp.checkpoint(self.layer, x, use_reentrant=True)
        return self.layer(x)
