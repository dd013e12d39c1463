import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Distiller(nn.Module):
    def __init__(self, student, decoder):
        super().__init__()
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.ema_model = copy.deepcopy(student)
        self.decoder = decoder
        self.blocks = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])

    @torch.autocast("cuda")
    def loss(self, x, labels):
        with torch.no_grad():
            target = self.teacher(x) + self.ema_model(x) + self.blocks[0](x)
            latent = self.decoder.encode(x)
            accuracy = (labels == labels.round()).float().mean()
            for mine, theirs in zip(self.teacher.parameters(), self.student.parameters()):
                mine.mul_(0.99).add_(theirs, alpha=0.01)
        return F.mse_loss(self.student(x), target) + self.decoder.decode(latent).mean() + self.blocks[1](x).mean() + accuracy


def criterion(model, x, loss_fn, metric, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad():
            best = loss_fn(x, x) + metric(x)
        return loss_fn(model(x), x) - best


def next_model(models, x, device_type="cuda"):
    with torch.autocast(device_type):
        model = models.pop()
        with torch.no_grad():
            target = model(x)
        model = models.pop()
        return F.mse_loss(model(x), target)
