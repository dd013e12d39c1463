import torch
from torch.optim import AdamW
from transformers import get_linear_schedule_with_warmup


def build(params, total):
    optimizer = AdamW(params, lr=1e-3)
    return optimizer, torch.optim.AdamW(params), get_linear_schedule_with_warmup(optimizer, 0, total)
