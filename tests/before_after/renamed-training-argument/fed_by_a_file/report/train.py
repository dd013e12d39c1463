from transformers import HfArgumentParser, TrainingArguments


def main(file):
    (arguments,) = HfArgumentParser(TrainingArguments).parse_yaml_file(file)
    return arguments.no_cuda, Arguments


def show(arguments: TrainingArguments):
    return arguments.no_cuda


class Arguments:
    pass
