# fixer: target=transformers==5.23.0
from typing import Optional

from transformers import HfArgumentParser, TrainingArguments


class Loop:
    def __init__(self, args: Optional[TrainingArguments] = None):
        if args is None:
            args = TrainingArguments("out")
        self.args = args

    def first(self):
        return self.args.local_rank in (-1, 0)


def parsed():
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    return args


def is_first():
    args = parsed()
    return args.local_rank in (-1, 0)


def of_another(args: TrainingArguments, made):
    args = made(args)
    return args.local_rank
