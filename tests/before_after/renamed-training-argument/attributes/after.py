# fixer: target=transformers==5.23.0 unsafe
from transformers import HfArgumentParser, Trainer, TrainingArguments


class Arguments(TrainingArguments):
    pass


class Evaluating(Trainer):
    def is_evaluated(self):
        return self.args.eval_strategy != "no"


def report(arguments: TrainingArguments):
    print(arguments.use_cpu)


def main(grouped, ratio):
    known, arguments = HfArgumentParser((Arguments, TrainingArguments)).parse_args_into_dataclasses()
    arguments.hub_token = known.hub_token
    report(arguments)
    first = TrainingArguments("out", train_sampling_strategy="group_by_length" if not grouped else "random", warmup_steps=0.04)
    return first, TrainingArguments("out", warmup_steps=ratio)
