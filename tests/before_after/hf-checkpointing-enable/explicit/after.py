# fixer: unsafe strategy=explicit
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # saves memory
    model.train()
    return model


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
