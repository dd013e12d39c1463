# fixer: unsafe
from transformers import *

model = AutoModelForCausalLM.from_pretrained("base")
model.gradient_checkpointing_enable()


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
