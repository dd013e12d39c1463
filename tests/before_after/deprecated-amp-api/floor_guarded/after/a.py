import torch
from torch.cuda.amp import GradScaler


def make():
    return (
        torch.amp.GradScaler("cuda")
        if hasattr(torch.amp, "GradScaler")
        else GradScaler()
    )
