# fixer: unsafe
from transformers import AdamW


def build(groups, options, *arguments):
    return AdamW(groups, **options), AdamW(*arguments)
