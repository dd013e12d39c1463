import torch
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, loader, clip_grad_norm_):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
