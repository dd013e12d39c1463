from transformers import Trainer, TrainingArguments


def main(model, dataset):
    Trainer(model, TrainingArguments("out"), train_dataset=dataset).train()
