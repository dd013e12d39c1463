import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.embed.weight.requires_grad = False
        self.embed.register_forward_hook(make_inputs_require_grad)
        self.block = nn.Linear(width, width)

    def forward(self, ids):
        return checkpoint(self.block, self.embed(ids), use_reentrant=True)


def make_inputs_require_grad(module, inputs, output):
    output.requires_grad_(True)
