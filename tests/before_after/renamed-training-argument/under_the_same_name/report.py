# fixer: target=transformers==5.23.0
from dataclasses import dataclass, field

from transformers import HfArgumentParser, TrainingArguments


@dataclass
class TrainingArguments(TrainingArguments):
    extra: str = field(default="")


def main():
    (args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
    return args.overwrite_output_dir
