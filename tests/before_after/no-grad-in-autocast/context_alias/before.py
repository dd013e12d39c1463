# fixer: unsafe
from contextlib import nullcontext
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, device_type="cuda", use_amp=True):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.amp_context = torch.autocast(device_type, dtype=torch.bfloat16) if use_amp else nullcontext()

    def step(self, x):
        with self.amp_context:
            with torch.inference_mode():
                target = self.model(x)
            loss = F.mse_loss(self.model(x + 0.1), target.clone() + 1.0)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def step_with_partial(model, x, device_type):
    amp = partial(torch.autocast, device_type, dtype=torch.bfloat16)
    with amp():
        with torch.no_grad():
            target = model(x)
        loss = F.mse_loss(model(x + 0.1), target + 1.0)
    loss.backward()
    return loss.item()


def train(model, batches, device_type="cuda"):
    trainer = Trainer(model, device_type)
    losses = [trainer.step(x) for x, _ in batches]
    return losses + [step_with_partial(model, x, device_type) for x, _ in batches]


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
