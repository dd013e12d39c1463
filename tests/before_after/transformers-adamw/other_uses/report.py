# fixer: unsafe
import transformers
from transformers import AdamW


class ClippedAdamW(AdamW):
    pass


OPTIMIZERS = {"adamw": AdamW, "adafactor": transformers.Adafactor}


def build(params, lr, fix_bias, **options):
    return [
        AdamW(params, lr=lr, correct_bias=False),
        AdamW(params, lr=lr, correct_bias=fix_bias),
        AdamW(params, lr, (0.9, 0.999), 1e-6, 0.0, False),
        transformers.AdamW(params, **options),
    ]
