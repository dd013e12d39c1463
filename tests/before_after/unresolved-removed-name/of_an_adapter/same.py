# fixer: upgrade=transformers@5.23.0,peft@0.21.2
from peft import PeftModel
from transformers import TrainingArguments


def save(model, folder):
    model.save_pretrained(folder, safe_serialization=False)
