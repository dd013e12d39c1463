# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


class Trainable:
    def __init__(self, name):
        model = AutoModelForCausalLM.from_pretrained(name)
        self.model = get_peft_model(model, LoraConfig(r=8))
        if self.model.supports_gradient_checkpointing: self.model.gradient_checkpointing_enable()
