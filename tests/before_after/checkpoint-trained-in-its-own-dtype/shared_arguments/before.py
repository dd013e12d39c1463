# fixer: target=transformers==5.23.0 unsafe
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def main(path, cache, dataset):
    shared = dict(pretrained_model_name_or_path=path, cache_dir=cache)
    model = AutoModelForCausalLM.from_pretrained(**shared)
    tokenizer = AutoTokenizer.from_pretrained(**shared, padding_side="right")
    Trainer(model, TrainingArguments("out"), train_dataset=dataset, processing_class=tokenizer).train()


def in_32_bits(path, dataset):
    shared = {"pretrained_model_name_or_path": path, "dtype": torch.float32}
    Trainer(AutoModelForCausalLM.from_pretrained(**shared), TrainingArguments("out"), train_dataset=dataset).train()
