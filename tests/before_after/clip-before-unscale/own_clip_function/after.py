import torch
from torch.nn.utils import clip_grad_norm_


def clip_gradients(model, max_norm):
    if max_norm > 0:
        clip_grad_norm_(model.parameters(), max_norm)


def train(model, optimizer, scaler: torch.amp.GradScaler, loader, max_norm):
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_gradients(model, max_norm)
        scaler.step(optimizer)
        scaler.update()
