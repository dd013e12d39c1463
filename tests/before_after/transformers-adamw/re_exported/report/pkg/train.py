from .optim import AdamW


def build(params):
    return AdamW(params, lr=1e-3)
