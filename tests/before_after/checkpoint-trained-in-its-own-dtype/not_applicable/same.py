# fixer: target=transformers==5.23.0
import torch
from somewhere import *
from transformers import AutoModelForCausalLM as Causal


def shadow(name, AutoModelForCausalLM):  # shadow: a parameter of that name
    model = AutoModelForCausalLM.from_pretrained(name)
    return torch.optim.AdamW(model.parameters())


def star(name):
    model = AutoModelForVision.from_pretrained(name)  # star: nobody knows what the import brings
    return torch.optim.AdamW(model.parameters())


def splat(*args):
    model = Causal.from_pretrained(*args)  # splat: nobody knows what is given
    return torch.optim.AdamW(model.parameters())


def keyword(name, **options):
    model = Causal.from_pretrained(name, **options)  # keyword: it may be a dtype
    return torch.optim.AdamW(model.parameters())
