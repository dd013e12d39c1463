import torch
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def load(self, checkpoint):
        self.load_state_dict(checkpoint)

    def forward(self, x):
        return checkpoint(self.layer, x, use_reentrant=False)
