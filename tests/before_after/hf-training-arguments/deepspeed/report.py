# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import TrainingArguments


def main(model):
    model = get_peft_model(model.base(), LoraConfig(r=8))
    return model, TrainingArguments("out", gradient_checkpointing=True, deepspeed="ds_z3.json")
