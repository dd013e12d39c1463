import torch
from lightning.pytorch import Trainer

PRECISION = 16


def main(model):
    if PRECISION == 16:
        model = model.to(torch.float16)
    return Trainer(precision=PRECISION)
