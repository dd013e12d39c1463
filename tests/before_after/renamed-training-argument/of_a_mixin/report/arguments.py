from dataclasses import dataclass

from transformers import TrainingArguments


class Reported:
    """How our result tables name the settings."""

    @property
    def evaluation_strategy(self):
        return {"no": "never", "steps": "often", "epoch": "rarely"}[self.eval_strategy.value]


@dataclass
class Arguments(Reported, TrainingArguments):
    table: str = "results.csv"
