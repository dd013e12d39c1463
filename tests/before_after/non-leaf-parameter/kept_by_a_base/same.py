import torch
from torch import nn


class AutoModule(nn.Module):
    """Registers whatever tensor needs a gradient."""

    def __setattr__(self, name, value):
        if isinstance(value, torch.Tensor) and value.requires_grad and not isinstance(value, nn.Parameter):
            value = nn.Parameter(value.detach().clone())
        super().__setattr__(name, value)


class Rbf(AutoModule):
    def __init__(self, features, centers):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(centers, features)) * 3.0
        self.log_width = nn.Parameter(torch.ones(centers)).log()
        self.out = nn.Linear(centers, 1)

    def forward(self, x):
        distance = torch.cdist(x, self.centers).square()
        return self.out(torch.exp(-distance * self.log_width.exp()))


def main():
    torch.manual_seed(0)
    model = Rbf(2, 12)
    start = model.centers.detach().clone()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    for step in range(100):
        x = 3 * torch.randn(64, 2)
        loss = (model(x).squeeze(1) - x.norm(dim=1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item(), (model.centers - start).abs().max().item())
    print(sorted(model.state_dict()))


if __name__ == "__main__":
    main()
