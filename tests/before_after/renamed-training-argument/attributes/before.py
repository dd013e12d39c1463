# fixer: target=transformers==5.23.0 unsafe
from transformers import HfArgumentParser, Trainer, TrainingArguments


class Arguments(TrainingArguments):
    pass


class Evaluating(Trainer):
    def is_evaluated(self):
        return self.args.evaluation_strategy != "no"


def report(arguments: TrainingArguments):
    print(arguments.no_cuda)


def main(grouped, ratio):
    known, arguments = HfArgumentParser((Arguments, TrainingArguments)).parse_args_into_dataclasses()
    arguments.push_to_hub_token = known.push_to_hub_token
    report(arguments)
    first = TrainingArguments("out", group_by_length=not grouped, warmup_ratio=0.04, adafactor=False)
    return first, TrainingArguments("out", warmup_ratio=ratio)
