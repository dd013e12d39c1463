# fixer: target=transformers==5.23.0
from transformers import TrainingArguments


def arguments(folder, strategy, **more):
    options = {"evaluation_strategy": "steps"}
    print(options)
    first = TrainingArguments(folder, save_safetensors=False, evaluation_strategy="no", eval_strategy="no")
    second = TrainingArguments(folder, evaluation_strategy=strategy, **more)
    return first, second, TrainingArguments(folder, **options)


def many_steps(folder, ratio):
    arguments = TrainingArguments(folder, warmup_ratio=1.5)
    other = TrainingArguments(folder, warmup_ratio=ratio)
    return arguments.logging_dir, other.warmup_ratio
