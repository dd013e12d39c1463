import dataclasses

from transformers import TrainingArguments

KNOWN = {field.name for field in dataclasses.fields(TrainingArguments)}


def arguments(folder):
    if {"evaluation_strategy", "no_cuda"} <= KNOWN:
        return TrainingArguments(output_dir=folder, evaluation_strategy="epoch", no_cuda=True)
    return TrainingArguments(output_dir=folder, eval_strategy="epoch", use_cpu=True)
