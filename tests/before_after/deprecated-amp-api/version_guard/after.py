# fixer: strategy=version-guard
import torch
from torch.cuda.amp import GradScaler


class Trainer:
    def __init__(self, fp16):
        self.scaler = (
            torch.amp.GradScaler("cuda", init_scale=2.0**12, enabled=fp16)
            if hasattr(torch.amp, "GradScaler")
            else GradScaler(2.0**12, enabled=fp16)
        )
        self.other = (torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()) if fp16 else None

    def step(self, model, x):
        with torch.amp.autocast("cuda", dtype=torch.get_autocast_dtype("cuda") if hasattr(torch, "get_autocast_dtype") else torch.get_autocast_gpu_dtype()):
            return model(x)
