from transformers import AdamW


def build(params, AdamW=None):
    return AdamW(params, lr=1e-3)
