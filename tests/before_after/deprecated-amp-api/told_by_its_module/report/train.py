import torch
from state import bundle
from torch.cuda.amp import GradScaler


def save(model):
    torch.save(bundle(model=model, scaler=GradScaler()), "last.pt")
