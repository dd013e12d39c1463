# fixer: target=transformers==5.23.0
from transformers import TrainingArguments


def arguments(folder):
    common = {"evaluation_strategy": "steps", "adafactor": True, "save_safetensors": True}
    return TrainingArguments(output_dir=folder, **common), TrainingArguments(folder, **{"per_gpu_train_batch_size": 4})
