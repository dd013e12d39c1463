import torch
import torch.nn.functional as F
from torch import nn


class Regressor(nn.Module):
    def __init__(self, width=64, rate=0.1):
        super().__init__()
        self.fc1 = nn.Linear(1, width)
        self.bn = nn.BatchNorm1d(width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)
        self.rate = rate

    def forward(self, x):
        x = F.relu(self.bn(self.fc1(x)))
        x = F.relu(self.fc2(F.dropout(x, 0.1)))
        return self.fc3(x)


def train(model, x, y, steps=400):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


@torch.no_grad()
def posterior(model, x, samples=50):
    model.eval()
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


x = torch.linspace(-3, 3, 200).unsqueeze(1)
y = torch.sin(x) + 0.1 * torch.randn_like(x)
net = Regressor()
train(net, x, y)
mean, spread = posterior(net, torch.linspace(-5, 5, 11).unsqueeze(1))
for m, s in zip(mean.flatten().tolist(), spread.flatten().tolist()):
    print(f"{m:+.3f} +- {1.96 * s:.3f}")
