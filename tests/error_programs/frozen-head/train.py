import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.fc = nn.Linear(4, 2)
        for p in self.parameters():
            p.requires_grad_(False)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.body(x))

net = Net()
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.1)
loss = net(torch.randn(8, 4)).sum()
loss.backward()
optimizer.step()
