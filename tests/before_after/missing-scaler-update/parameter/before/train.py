import torch

from steps import train_step


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        train_step(model, optimizer, scaler, batch)
