from model import MODELS
from transformers import Trainer, TrainingArguments


class Logging(Trainer):
    def log_best(self, metrics):
        print(metrics)


def main(kind, path, dataset):
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    model = MODELS[kind].from_pretrained(path)
    Logging(model=model, args=args, train_dataset=dataset).train()
