import torch
from torch import nn

from evaluation import measured


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.encoder(x)).mean()


@measured
def evaluate(model, loader):
    norms = []
    for x in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            score = model(x)
        grads = torch.autograd.grad(score.float(), list(model.head.parameters()))
        norms.append(sum(g.square().sum() for g in grads))
    return norms
