# fixer: target=transformers==4.12.5
from transformers import AdamW


def build(params):
    return AdamW(params, lr=1e-3)
