# fixer: unsafe
import torch
from transformers import AdamW


def build(model: torch.nn.Module) -> "AdamW":
    return torch.optim.AdamW(model.parameters(), eps=1e-6, weight_decay=0.0)
