import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.mlp(self.norm(x)))


class Net(nn.Module):
    def __init__(self, width=64, depth=8):
        super().__init__()
        self.stem = nn.Linear(width, width)
        self.layers = nn.ModuleList([Mixer(width) for _ in range(depth)])

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = checkpoint(layer, x)
        return x


if __name__ == "__main__":
    net = Net().cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    for _ in range(1000):
        x = torch.randn(256, 64, device="cuda")
        loss = nn.functional.mse_loss(net(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
