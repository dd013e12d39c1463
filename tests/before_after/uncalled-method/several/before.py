# fixer: unsafe
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(batches):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    scaler = torch.amp.GradScaler("cuda")
    model.train
    for x, y in batches:
        optimizer.zero_grad  # of each round
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update
        scheduler.step
    model.eval
    return model
