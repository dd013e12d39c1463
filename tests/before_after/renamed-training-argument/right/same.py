# fixer: target=transformers==5.23.0
from transformers import Trainer, TrainingArguments


def main(model, tokenizer, dataset):
    args = TrainingArguments("out", eval_strategy="steps", use_cpu=True, optim="adafactor")
    trainer = Trainer(model, args, train_dataset=dataset, processing_class=tokenizer)
    trainer.train()
    return trainer.processing_class
