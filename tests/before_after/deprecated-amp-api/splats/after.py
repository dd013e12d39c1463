# fixer: target=torch==2.5
import torch


def step(model, x, scaler_options, scaler_arguments, autocast_options):
    scaler = torch.amp.GradScaler("cuda", **scaler_options)
    other = torch.amp.GradScaler("cuda", *scaler_arguments, enabled=True)
    with torch.amp.autocast("cuda", **autocast_options), torch.amp.autocast("cuda", enabled=True, **autocast_options):
        return scaler, other, model(x)
