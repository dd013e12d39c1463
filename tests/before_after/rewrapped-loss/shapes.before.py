import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def step(self, x, y, device):
        loss = self.criterion(self.model(x), y)
        total = torch.tensor(loss + 0.5, dtype=torch.float32, device=device, requires_grad=True)
        total.backward()
        autograd.Variable(loss.data, requires_grad=True).backward()
        autograd.Variable(-loss).backward(retain_graph=True)
        (torch.tensor(loss / 2)).backward()

    def sums(self, x, y, quantized, scaler):
        loss = sum_of = F.cross_entropy(self.model(x), y)
        if quantized:
            loss = autograd.Variable(loss, True)
        scaler.scale(loss / 4).backward()
        penalty = F.l1_loss(self.model(x), y)
        everything = penalty + torch.tensor(sum_of)
        everything.backward()

    def lists(self, batches):
        losses = []
        for x, y in batches:
            losses.append(self.criterion(self.model(x), y))
        mean = torch.tensor(losses).mean()
        self.optimizer.zero_grad()
        mean.backward()

        torch.FloatTensor([F.mse_loss(self.model(x), y) for x, y in batches]).sum().backward()
        first, second = F.mse_loss(self.model(batches[0]), x), F.l1_loss(self.model(x), y, reduction="sum")
        torch.mean(torch.as_tensor((first, 2 * second), dtype=torch.float64)).backward()
