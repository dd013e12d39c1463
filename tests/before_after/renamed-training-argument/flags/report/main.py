from dataclasses import dataclass

from transformers import HfArgumentParser, TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    logging_dir: str = "logs"


def main():
    arguments = HfArgumentParser((Arguments,)).parse_args_into_dataclasses()[0]
    print(arguments.output_dir)
