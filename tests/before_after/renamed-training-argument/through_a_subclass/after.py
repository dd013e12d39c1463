# fixer: target=transformers==5.23.0
from dataclasses import dataclass

from transformers import Trainer, TrainingArguments


@dataclass
class OwnArguments(TrainingArguments):
    margin: float = 0.1


class OwnTrainer(Trainer):
    def __init__(self, *args, margin, **options):
        super().__init__(*args, **options)
        self.margin = margin


class Ranking(Trainer):
    def log_name(self):
        return self.processing_class.name_or_path


def main(model, tokenizer, dataset):
    args = OwnArguments("out", eval_strategy="steps", margin=0.2)
    trainer = Ranking(model, args, train_dataset=dataset, processing_class=tokenizer)
    trainer.train()
