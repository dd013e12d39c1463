# fixer: unsafe strategy=input-grads
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.get_input_embeddings().requires_grad_(False)
    model.gradient_checkpointing_enable()  # saves memory
    model.train()
    return model
