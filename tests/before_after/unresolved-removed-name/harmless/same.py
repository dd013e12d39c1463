# fixer: upgrade=transformers@5.23.0
from transformers import TrainingArguments


def save(model, folder):
    model.save_pretrained(folder, safe_serialization=True)
