import torch


def step(model, x):
    with torch.cuda.amp.autocast(device_type="cuda"):  # a TypeError on every torch
        scaler = torch.cuda.amp.GradScaler(device="cuda")
        with torch.cuda.amp.autocast(True, enabled=False):
            return model(x), scaler
