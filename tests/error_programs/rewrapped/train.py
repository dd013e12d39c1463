import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def main():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        x = torch.randn(8, 4)
        loss = torch.tensor([F.mse_loss(model(x), torch.ones(8, 1))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

main()
