# fixer: target=transformers==5.23.0
import torch
import transformers
from diffusers import DiffusionPipeline
from somewhere import *
from transformers import AutoModel as Loader


class AutoModel:  # shadow: a class of the project of that name
    @classmethod
    def from_pretrained(cls, folder, torch_dtype=None):
        return cls()


def load(folder, options, **kwargs):
    own = AutoModel.from_pretrained(folder, torch_dtype=torch.float16)
    brought = AutoModelForMaskedLM.from_pretrained(folder, torch_dtype=torch.float16)  # star: nobody knows
    pipeline = DiffusionPipeline.from_pretrained(folder, torch_dtype=torch.float16)  # another library
    spread = Loader.from_pretrained(folder, **options)  # splat: what the dictionary holds cannot be seen
    hidden = Loader.from_pretrained(folder, **kwargs)  # keyword: the same
    if transformers.__version__ < "4.56":
        return Loader.from_pretrained(folder, torch_dtype=torch.float16)
    return own, brought, pipeline, spread, hidden
