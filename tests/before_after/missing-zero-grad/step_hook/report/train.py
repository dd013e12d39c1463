import torch
import torch.nn.functional as F
from torch import nn

from leak import leaky


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(12, 64)
        self.out = nn.Linear(64, 6)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.out(h), h


def online(stream, lr=0.01):
    model = Tracker()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    leaky(optimizer, 0.8)
    h = torch.zeros(1, 64)
    errors = []
    for x, y in stream:
        prediction, h = model(x[None], h.detach())
        loss = F.mse_loss(prediction, y[None])
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
    return model, errors


if __name__ == "__main__":
    inputs, targets = torch.load("imu.pt")
    model, errors = online(zip(inputs, targets))
    print(sum(errors[-1000:]) / 1000)
    torch.save(model.state_dict(), "tracker.pt")
