# fixer: target=torch>=2.14
import torch
from torch.utils.checkpoint import checkpoint


@checkpoint()
def attention(q, k, v):
    return torch.softmax(q @ k.mT, dim=-1) @ v


class Mixer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    @checkpoint(preserve_rng_state=True)
    def forward(self, x):
        return x + self.linear(x)
