import torch
import torch.nn.functional as F
from torch import nn


class Tower(nn.Module):
    def __init__(self, depth=3, width=16):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(depth)]
        self._modules.update({f"block{i}": block for i, block in enumerate(self.blocks)})
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x)) + x
        return self.head(x)


def train(batches):
    model = Tower()
    assert len(list(model.parameters())) == 8
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    return sorted(model.state_dict())


if __name__ == "__main__":
    print(train([(torch.randn(8, 16), torch.randn(8, 1)) for _ in range(3)]))
