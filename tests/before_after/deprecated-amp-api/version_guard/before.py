# fixer: strategy=version-guard
import torch
from torch.cuda.amp import GradScaler, autocast


class Trainer:
    def __init__(self, fp16):
        self.scaler = GradScaler(2.0**12, enabled=fp16)
        self.other = torch.cuda.amp.GradScaler() if fp16 else None

    def step(self, model, x):
        with autocast(dtype=torch.get_autocast_gpu_dtype()):
            return model(x)
