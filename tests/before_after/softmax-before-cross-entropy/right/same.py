import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(20, 10)

    def forward(self, x):
        x = self.fc(x)
        return x if self.training else F.softmax(x, dim=-1)


def right(net, teacher, x, y, optimizer):
    logits = net(x)
    a = F.cross_entropy(logits, y)
    b = F.cross_entropy(logits, F.softmax(teacher(x), dim=1))
    c = F.cross_entropy(F.log_softmax(logits, dim=1), y)
    d = F.nll_loss(F.log_softmax(logits, dim=1), y)
    e = F.cross_entropy(F.gumbel_softmax(logits), y)
    accuracy = (F.softmax(logits, dim=1).argmax(1) == y).float().mean()
    f = nn.NLLLoss()(F.softmax(logits, dim=1).clamp(min=1e-6).log(), y)
    g = nn.CrossEntropyLoss()(Net()(x), y)
    (a + b + c + d + e + f + g).backward()
    return accuracy
