# fixer: target=torch==2.5
import torch


def save(scaler, path):
    if isinstance(scaler, torch.cuda.amp.GradScaler):
        torch.save(scaler.state_dict(), path)


def build(fp16):
    return torch.cuda.amp.GradScaler(enabled=fp16)
