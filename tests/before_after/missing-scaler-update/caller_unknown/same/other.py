import torch


def calibrate(model, batch):
    scaler = torch.amp.GradScaler("cuda")
    return scaler.scale(model(batch))
