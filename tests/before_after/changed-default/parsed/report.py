# fixer: upgrade=transformers@5.23.0
"""A dataclass whose fields a parser fills."""

from transformers import HfArgumentParser, TrainingArguments

parser = HfArgumentParser((TrainingArguments,))
