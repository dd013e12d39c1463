import torch
import torch.nn as nn
import torch.nn.functional as F


class FlatNet(nn.Module):
    """All weights in one vector, as the evolution baseline wants them."""

    def __init__(self, inputs=8, hidden=32):
        super().__init__()
        self.shapes = [(hidden, inputs), (hidden,), (1, hidden), (1,)]
        self.sizes = [torch.Size(shape).numel() for shape in self.shapes]
        self.vector = nn.Parameter(0.1 * torch.randn(sum(self.sizes)))

    def forward(self, x):
        parts = self.vector.split(self.sizes)
        w1, b1, w2, b2 = [part.view(shape) for part, shape in zip(parts, self.shapes)]
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def train(steps=500, device="cpu"):
    model = FlatNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with torch.autocast(device, dtype=torch.bfloat16):
        for step in range(steps):
            x = torch.randn(64, 8, device=device)
            y = x.sum(dim=1, keepdim=True)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).float(), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


if __name__ == "__main__":
    curve = train()
    print(curve[0], curve[-1])
