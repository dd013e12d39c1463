# fixer: target=torch==2.1.2
import torch


def step(model, x):
    with torch.cuda.amp.autocast(False):
        return model(x)
