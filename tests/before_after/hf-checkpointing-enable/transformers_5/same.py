# fixer: unsafe target=transformers==5.1.0
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable()  # saves memory
    model.train()
    return model
