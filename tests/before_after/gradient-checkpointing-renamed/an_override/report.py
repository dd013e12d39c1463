# fixer: target=transformers==5.23.0 unsafe
from functools import partial
from types import MethodType

from transformers import AutoModelForCausalLM


def prepare(name, enable):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable = MethodType(partial(enable, use_reentrant=True), model)
    model.gradient_checkpointing_enable()
    return model
