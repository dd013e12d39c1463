import torch


def step(model, x):
    with torch.cuda.amp.autocast():
        return model(x)
