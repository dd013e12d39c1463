# fixer: unsafe target=torch==2.5
import torch


def save(scaler, path):
    if isinstance(scaler, torch.amp.GradScaler):
        torch.save(scaler.state_dict(), path)


def build(fp16):
    return torch.amp.GradScaler("cuda", enabled=fp16) if fp16 else None
