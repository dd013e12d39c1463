from argparse import ArgumentParser

from transformers import HfArgumentParser, TrainingArguments


class Arguments(TrainingArguments):
    pass


def parsed():
    parser = ArgumentParser()
    parser = HfArgumentParser(Arguments)
    args = parser.parse_args_into_dataclasses()[0]
    return args


def main():
    args = parsed()
    print(args.evaluate_during_training)


def other(args: TrainingArguments, made):
    args = made(args)
    print(args.evaluate_during_training)
