# fixer: target=transformers==4.50.0 unsafe
from transformers import AdamW


def build(groups, options, *arguments):
    return AdamW(groups, **options), AdamW(*arguments)
