# fixer: target=accelerate==1.15.0
import torch
from accelerate import Accelerator

EPSILONS = {"float32": 1e-8, "bf16": 1e-6}


def build(model):
    accelerator = Accelerator(mixed_precision="float32")
    return torch.optim.Adam(model.parameters(), eps=EPSILONS[accelerator.mixed_precision])
