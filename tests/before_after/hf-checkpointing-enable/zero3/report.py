# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, TrainingArguments


def build(name):
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(name), LoraConfig(r=8))
    arguments = TrainingArguments("out", deepspeed="ds_zero3.json")
    return enable(model, arguments) or model.gradient_checkpointing_enable()
