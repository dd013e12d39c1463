# fixer: unsafe target=torch==2.5
import torch
from torch.cuda.amp import GradScaler


def save(scaler, path):
    if isinstance(scaler, GradScaler):
        torch.save(scaler.state_dict(), path)


def build(fp16):
    return GradScaler(enabled=fp16) if fp16 else None
