# fixer: target=torch==2.5
import torch


def step(model, x, scaler_options, scaler_arguments, autocast_options):
    scaler = torch.cuda.amp.GradScaler(**scaler_options)
    other = torch.cuda.amp.GradScaler(*scaler_arguments, enabled=True)
    with torch.cuda.amp.autocast(**autocast_options), torch.cuda.amp.autocast(True, **autocast_options):
        return scaler, other, model(x)
