import math

import torch
from torch import nn


class Temperature(nn.Module):
    """A positive temperature, kept as the logarithm of itself."""

    def __init__(self, heads, init=0.07):
        super().__init__()
        self.heads = heads
        self.value = nn.Parameter(torch.ones(heads)) * init

    @property
    def value(self):
        return self.log_value.exp()

    @value.setter
    def value(self, new):
        self.log_value = nn.Parameter(new.detach().log())

    def forward(self, similarity):
        return similarity / self.value.view(-1, 1, 1)


def main(steps=50):
    torch.manual_seed(0)
    proj = nn.Linear(16, 4 * 8)
    temperature = Temperature(4)
    optimizer = torch.optim.Adam(
        [{"params": proj.parameters()}, {"params": temperature.parameters(), "lr": 1e-2}], lr=1e-3
    )
    for _ in range(steps):
        x = torch.randn(32, 16)
        a = nn.functional.normalize(proj(x).view(32, 4, 8).transpose(0, 1), dim=-1)
        b = nn.functional.normalize(
            proj(x + 0.1 * torch.randn_like(x)).view(32, 4, 8).transpose(0, 1), dim=-1
        )
        logits = temperature(a @ b.transpose(1, 2))
        loss = nn.functional.cross_entropy(logits, torch.arange(32).expand(4, 32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(temperature.value.tolist(), math.log(32), loss.item())


if __name__ == "__main__":
    main()
