# fixer: target=transformers==5.1.0
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.get_input_embeddings().requires_grad_(False)
    model.gradient_checkpointing_enable({})
    model.gradient_checkpointing_enable(None)
    model.gradient_checkpointing_enable()
    return model
