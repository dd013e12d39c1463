import sys

sys.path.insert(0, "..")
from transformers import AdamW


def optimizer(model):
    return AdamW(model.parameters(), lr=1e-3)
