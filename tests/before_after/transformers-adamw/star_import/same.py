from transformers import *


def build(params):
    return AdamW(params, lr=1e-3)
