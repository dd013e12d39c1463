# a call that no version of Transformers takes; the keyword is not ours to judge
from transformers import AdamW


def build(params):
    return AdamW(params, fused=True)
