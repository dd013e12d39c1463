import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def on_device(self, x, y, device):
        loss = self.criterion(self.model(x), y)
        total = torch.tensor(loss + 0.5, dtype=torch.float32, device=device, requires_grad=True)
        total.backward()

    def data(self, x, y):
        loss = self.criterion(self.model(x), y)
        autograd.Variable(loss.data, requires_grad=True).backward()

    def negative(self, x, y):
        loss = self.criterion(self.model(x), y)
        autograd.Variable(-loss).backward(retain_graph=True)

    def in_parentheses(self, x, y):
        loss = self.criterion(self.model(x), y)
        (torch.tensor(loss / 2)).backward()

    def under_a_condition(self, x, y, quantized, scaler):
        loss = sum_of = F.cross_entropy(self.model(x), y)
        if quantized:
            loss = autograd.Variable(loss, True)
        scaler.scale(loss / 4).backward()
        return sum_of.item()

    def added(self, x, y):
        sum_of = F.cross_entropy(self.model(x), y)
        penalty = F.l1_loss(self.model(x), y)
        everything = penalty + torch.tensor(sum_of)
        everything.backward()

    def appended(self, batches):
        losses = []
        for x, y in batches:
            losses.append(self.criterion(self.model(x), y))
        mean = torch.tensor(losses).mean()
        self.optimizer.zero_grad()
        mean.backward()

    def comprehended(self, batches):
        torch.FloatTensor([F.mse_loss(self.model(x), y) for x, y in batches]).sum().backward()

    def tuple_of(self, batches, x, y):
        first, second = F.mse_loss(self.model(batches[0]), x), F.l1_loss(self.model(x), y, reduction="sum")
        torch.mean(torch.as_tensor((first, 2 * second), dtype=torch.float64)).backward()
