# fixer: target=transformers==5.23.0
from somewhere import *
from transformers import AutoModelForCausalLM as Loader
from transformers import BitsAndBytesConfig
from unsloth import FastLanguageModel


class AutoModelForCausalLM:  # shadow: a class of the project of that name
    @classmethod
    def from_pretrained(cls, folder, load_in_4bit=False):
        return cls()


def load(folder, options, **kwargs):
    own = AutoModelForCausalLM.from_pretrained(folder, load_in_4bit=True)
    brought = AutoModelForMaskedLM.from_pretrained(folder, load_in_4bit=True)  # star: nobody knows
    fast = FastLanguageModel.from_pretrained(folder, load_in_4bit=True)  # an argument of Unsloth
    spread = Loader.from_pretrained(folder, **options)  # splat: what the dictionary holds cannot be seen
    hidden = Loader.from_pretrained(folder, **kwargs)  # keyword: the same
    config = BitsAndBytesConfig(load_in_4bit=True)
    return own, brought, fast, spread, hidden, Loader.from_pretrained(folder, quantization_config=config)
