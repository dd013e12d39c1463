# fixer: unsafe
from peft import prepare_model_for_kbit_training
from transformers import TrainingArguments


def build(model, config):
    model = prepare_model_for_kbit_training(model, True, {})
    return model, TrainingArguments(output_dir="out", gradient_checkpointing=config.checkpointing)


def load(name):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
