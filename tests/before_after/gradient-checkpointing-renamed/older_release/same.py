# fixer: target=transformers==5.22.2
from transformers import TrainingArguments


def make():
    return TrainingArguments("out", gradient_checkpointing=True)
