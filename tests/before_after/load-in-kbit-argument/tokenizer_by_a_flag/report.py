# fixer: upgrade=transformers@5.23.0
from transformers import AutoTokenizer


def load(name, args):
    return AutoTokenizer.from_pretrained(name, use_fast=not args.slow)
