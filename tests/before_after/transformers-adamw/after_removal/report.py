# fixer: target=transformers==4.50.0
import torch
from transformers import AdamW


def build(params):
    return AdamW(params, lr=1e-3)


OPTIMIZERS = {"adamw": AdamW}
