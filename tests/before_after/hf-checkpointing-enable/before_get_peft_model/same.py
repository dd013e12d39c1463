from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable()
    model = get_peft_model(model, LoraConfig(r=8))
    return model
