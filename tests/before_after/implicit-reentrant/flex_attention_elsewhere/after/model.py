import torch
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.block = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        return checkpoint(self.block, self.stem(x), use_reentrant=False)
