import torch


def make():
    return torch.amp.GradScaler("cuda")
