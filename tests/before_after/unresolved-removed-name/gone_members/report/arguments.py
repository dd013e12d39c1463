from dataclasses import dataclass

from transformers import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    evaluation_strategy: str = "epoch"
