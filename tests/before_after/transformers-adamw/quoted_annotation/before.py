# fixer: unsafe
import torch
from transformers import AdamW


def build(model: torch.nn.Module) -> "AdamW":
    return AdamW(model.parameters())
