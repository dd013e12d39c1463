from dataclasses import dataclass

from transformers import TrainingArguments


@dataclass
class ExperimentArguments(TrainingArguments):
    """Reads the configuration files of last year's experiments."""

    evaluation_strategy: str = "no"
    note: str = ""

    def __post_init__(self):
        self.eval_strategy = self.evaluation_strategy
        super().__post_init__()
