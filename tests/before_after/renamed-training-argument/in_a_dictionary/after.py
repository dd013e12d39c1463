# fixer: target=transformers==5.23.0
from transformers import TrainingArguments


def arguments(folder):
    common = {"eval_strategy": "steps", "optim": "adafactor"}
    return TrainingArguments(output_dir=folder, **common), TrainingArguments(folder, **{"per_device_train_batch_size": 4})
