# fixer: target=transformers==5.23.0
from transformers import TrainingArguments


def dict(**given):
    return {"eval_strategy": given["evaluation_strategy"]}


def arguments(folder):
    return TrainingArguments(output_dir=folder, **dict(evaluation_strategy="steps"))
