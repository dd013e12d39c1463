# fixer: upgrade=transformers@5.23.0
from dataclasses import dataclass, field

from transformers import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    optim: str = field(default="adamw_hf")
    adam_epsilon: float = 1e-8


@dataclass
class Other(TrainingArguments):
    optim: str = "adamw_hf"


@dataclass
class Right(TrainingArguments):
    optim: str = field(default="adamw_torch")


@dataclass
class Own:
    optim: str = "adamw_hf"
