# fixer: unsafe
from torch import nn, optim


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.body.eval()
        for p in self.body.parameters():
            p.requires_grad = False
        self.head = nn.Linear(8, 1)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.head(self.body(x))


def train(batches):
    model = Net()
    optimizer = optim.SGD(model.head.parameters(), lr=0.1)
    model.train()
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model
