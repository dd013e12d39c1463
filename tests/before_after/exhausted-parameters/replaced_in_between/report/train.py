import torch
from torch import nn
from torch.nn import functional as F

import growth


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body, self.head = nn.Linear(6, 16), nn.Linear(16, classes)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def main():
    torch.manual_seed(0)
    model = Net(3)
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.5)
    growth.grow(model, optimizer, 6)
    for _ in range(40):
        x = torch.randn(32, 6) * 3
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), x.argmax(1))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(params, 0.1)
        optimizer.step()
    print(loss.item(), norm.item(), model.head.weight.grad.norm().item())


if __name__ == "__main__":
    main()
