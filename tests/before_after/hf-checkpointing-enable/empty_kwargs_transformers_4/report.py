# fixer: target=transformers==4.57.6
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.get_input_embeddings().requires_grad_(False)
    model.gradient_checkpointing_enable({})
    model.gradient_checkpointing_enable(None)
    model.gradient_checkpointing_enable()
    return model


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
