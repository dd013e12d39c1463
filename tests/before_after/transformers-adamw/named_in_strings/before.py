# fixer: unsafe
import torch
from transformers.optimization import Adafactor, AdamW


def build(params, args):
    """Builds AdamW or Adafactor."""
    if args.optimizer == "AdamW":
        return AdamW(params, lr=args.learning_rate, eps=args.adam_epsilon)
    if args.optimizer == "SGD":
        return torch.optim.SGD(params, lr=args.learning_rate)
    return Adafactor(params, lr=args.learning_rate)
