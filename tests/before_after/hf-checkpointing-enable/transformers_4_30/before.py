# fixer: unsafe target=transformers==4.30.2
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable()  # saves memory
    model.train()
    return model


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
