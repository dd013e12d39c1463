# fixer: target=transformers==5.23.0
from transformers import AutoTokenizer


def load(name):
    fast = AutoTokenizer.from_pretrained(name, use_fast=True)
    return fast, AutoTokenizer.from_pretrained(name, use_fast=False)
