# fixer: upgrade=transformers@5.23.0
import torch
from somewhere import *
from transformers import AutoModel as Loader


class AutoModel:  # shadow: a class of the project of that name
    @classmethod
    def from_pretrained(cls, folder):
        return cls()


def load(folder, options, **kwargs):
    own = AutoModel.from_pretrained(folder)
    brought = AutoModelForMaskedLM.from_pretrained(folder)  # star: nobody knows what the import brings
    spread = Loader.from_pretrained(folder, **options)  # splat: what the dictionary holds cannot be seen
    hidden = Loader.from_pretrained(folder, **kwargs)  # keyword: the same
    return own, brought, spread, hidden, Loader.from_pretrained(folder, dtype=torch.float32)
