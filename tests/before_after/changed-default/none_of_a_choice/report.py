# fixer: upgrade=transformers@5.23.0
"""A dtype that may be None, which asks for the default."""

import torch
from transformers import AutoModelForCausalLM


def load(name, precision):
    dtype = None if precision == "default" else torch.bfloat16
    return AutoModelForCausalLM.from_pretrained(name, dtype=dtype)


def half(name):
    return AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
