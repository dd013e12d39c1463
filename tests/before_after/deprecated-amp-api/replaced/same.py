import torch


def patch():
    torch.cuda.amp.autocast = torch.xpu.amp.autocast
    torch.cuda.amp.GradScaler = make_scaler


def make_scaler():
    return torch.cuda.amp.GradScaler()
