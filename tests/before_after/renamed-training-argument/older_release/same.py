# fixer: target=transformers==4.40.2
from transformers import Trainer, TrainingArguments


def main(model, tokenizer, dataset):
    args = TrainingArguments("out", evaluation_strategy="steps")
    Trainer(model, args, train_dataset=dataset, tokenizer=tokenizer).train()
