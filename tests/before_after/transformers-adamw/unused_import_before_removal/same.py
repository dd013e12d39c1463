# fixer: target=transformers==4.49.0
from transformers import AdamW, AutoModel, AutoTokenizer


def load(name):
    return AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
