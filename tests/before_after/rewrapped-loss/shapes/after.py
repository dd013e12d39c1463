import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def on_device(self, x, y, device):
        loss = self.criterion(self.model(x), y)
        total = (loss + 0.5).to(dtype=torch.float32, device=device)
        total.backward()

    def data(self, x, y):
        loss = self.criterion(self.model(x), y)
        loss.backward()

    def negative(self, x, y):
        loss = self.criterion(self.model(x), y)
        (-loss).backward(retain_graph=True)

    def in_parentheses(self, x, y):
        loss = self.criterion(self.model(x), y)
        (loss / 2).backward()

    def under_a_condition(self, x, y, quantized, scaler):
        loss = sum_of = F.cross_entropy(self.model(x), y)
        scaler.scale(loss / 4).backward()
        return sum_of.item()

    def added(self, x, y):
        sum_of = F.cross_entropy(self.model(x), y)
        penalty = F.l1_loss(self.model(x), y)
        everything = penalty + sum_of
        everything.backward()

    def appended(self, batches):
        losses = []
        for x, y in batches:
            losses.append(self.criterion(self.model(x), y))
        mean = torch.stack(losses).mean()
        self.optimizer.zero_grad()
        mean.backward()

    def comprehended(self, batches):
        torch.stack([F.mse_loss(self.model(x), y) for x, y in batches]).sum().backward()

    def tuple_of(self, batches, x, y):
        first, second = F.mse_loss(self.model(batches[0]), x), F.l1_loss(self.model(x), y, reduction="sum")
        torch.mean(torch.stack((first, 2 * second)).to(dtype=torch.float64)).backward()
