# fixer: target=transformers>=5.3
from transformers import Trainer, TrainingArguments


def train(model, data):
    args = TrainingArguments("out", max_steps=2)
    args.use_cpu = True  # TrainingArguments of 5.0 takes any attribute, and reads `use_cpu`
    Trainer(model, args, train_dataset=data).train()
