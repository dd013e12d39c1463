import torch
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.ck = checkpoint

    def forward(self, x):
        return self.ck(self.layer, x, use_reentrant=False)
