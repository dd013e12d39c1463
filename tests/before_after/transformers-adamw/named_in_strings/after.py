# fixer: unsafe
import torch
from transformers.optimization import Adafactor


def build(params, args):
    """Builds AdamW or Adafactor."""
    if args.optimizer == "AdamW":
        return torch.optim.AdamW(params, lr=args.learning_rate, eps=args.adam_epsilon, weight_decay=0.0)
    if args.optimizer == "SGD":
        return torch.optim.SGD(params, lr=args.learning_rate)
    return Adafactor(params, lr=args.learning_rate)
