from transformers import HfArgumentParser, TrainingArguments


class Arguments(TrainingArguments):
    pass


def parsed():
    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    return args


def main():
    args = parsed()
    print(args.evaluate_during_training)


def other(args: TrainingArguments, made):
    args = made(args)
    print(args.evaluate_during_training)
