# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from transformers.integrations import is_deepspeed_zero3_enabled


def build(name):
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(name), LoraConfig(r=8))
    assert is_deepspeed_zero3_enabled()  # deepspeed
    return enable(model) or model.gradient_checkpointing_enable()
