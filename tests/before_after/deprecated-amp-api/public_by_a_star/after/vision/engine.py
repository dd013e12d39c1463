import torch
import torch.nn.functional as F
from torch.cuda.amp import GradScaler, autocast


def train_one_epoch(model, optimizer, loader, scaler):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        with torch.amp.autocast("cuda"):
            loss = F.cross_entropy(model(images.cuda()), labels.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def make_scaler(enabled=True):
    return GradScaler(enabled=enabled)
