import torch
from torch import nn
from torch.nn import functional as F


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 4)
        self.right = nn.Linear(8, 4)

    def forward(self, x):
        positive = torch.gt(x[:, 0], 0)
        out = torch.zeros(x.size(0), 4, device=x.device)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out[positive] = self.left(x[positive]).to(out.dtype)
            others = torch.nonzero(torch.logical_not(positive)).flatten()
            out.index_add_(0, others, self.right(x[others]).to(out.dtype))
        return out


def train(batches):
    model = Experts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).mean(1, keepdim=True), y)
        loss.backward()
        optimizer.step()
    return model
