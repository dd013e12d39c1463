# fixer: target=transformers==5.23.0
import transformers
from diffusers import UNet2DModel
from somewhere import *
from transformers import TrainingArguments as Arguments


class TrainingArguments:  # shadow: a class of the project of that name
    def __init__(self, gradient_checkpointing=False):
        self.gradient_checkpointing = gradient_checkpointing


def make(model, options, **kwargs):
    own = TrainingArguments(gradient_checkpointing=True)
    brought = FancyArguments(gradient_checkpointing=True)  # star: nobody knows what the import brings
    spread = Arguments("out", **options)  # splat: what the dictionary holds cannot be seen
    hidden = Arguments("out", **kwargs)  # keyword: the same
    model.gradient_checkpointing_enable()
    UNet2DModel().gradient_checkpointing_enable()
    if hasattr(transformers, "activation_checkpointing"):
        return Arguments("out", gradient_checkpointing=True)
    return own, brought, spread, hidden
