import torch
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, scaler, loader, criterion, clip):
    for inputs, targets in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(inputs), targets)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()


def train_without_clip(model, optimizer, scaler, loader, criterion):
    for inputs, targets in loader:
        scaler.scale(criterion(model(inputs), targets)).backward()
        scaler.step(optimizer)
        scaler.update()
