import legacy  # noqa: F401
from transformers import AdamW


def optimizer_of(model):
    return AdamW(model.parameters(), lr=1e-4)
