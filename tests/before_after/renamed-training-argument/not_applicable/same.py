# fixer: target=transformers==5.23.0
import inspect
from dataclasses import dataclass

import transformers
from somewhere import *
from transformers import HfArgumentParser, Trainer
from transformers import TrainingArguments as Arguments


class TrainingArguments:  # shadow: a class of the project of that name
    def __init__(self, output_dir, evaluation_strategy="no"):
        self.evaluation_strategy = evaluation_strategy


class OwnArguments(Arguments):
    def __init__(self, folder, evaluation_strategy):
        super().__init__(folder, eval_strategy=evaluation_strategy)


def arguments(options, **kwargs):
    own = TrainingArguments("out", evaluation_strategy="steps")
    also = OwnArguments("out", evaluation_strategy="steps")
    brought = Seq2SeqTrainingArguments("out", evaluation_strategy="steps")  # star: nobody knows what the import brings
    spread = Arguments("out", **options)  # splat: what the dictionary holds cannot be seen
    hidden = Arguments("out", **kwargs)  # keyword: the same
    return own, also, brought, spread, hidden


def for_both(folder):
    if "evaluation_strategy" in inspect.signature(Arguments.__init__).parameters:
        return Arguments(folder, evaluation_strategy="steps")
    return Arguments(folder, eval_strategy="steps")


def for_old(folder):
    if transformers.__version__ < "4.41":
        return Arguments(folder, evaluation_strategy="steps")
    try:
        return Arguments(folder, no_cuda=True)
    except TypeError:
        return Arguments(folder, use_cpu=True)


class KeepsTokenizer(Trainer):
    def __init__(self, tokenizer, **options):
        super().__init__(**options)
        self.tokenizer = tokenizer

    def save(self):
        self.tokenizer.save_pretrained(self.args.output_dir)


def train(model, tokenizer):
    KeepsTokenizer(tokenizer=tokenizer, model=model).train()


class KeepsArguments(Trainer):
    def __init__(self, settings, **options):
        super().__init__(**options)
        self.args = settings

    def device(self):
        return self.args.no_cuda


@dataclass
class WithField(Arguments):
    logging_dir: str = "logs"


def parsed(parser, kinds):
    with_field = HfArgumentParser(WithField).parse_args_into_dataclasses()[0]
    some = HfArgumentParser(kinds).parse_args_into_dataclasses()[0]
    return with_field.logging_dir, some.no_cuda, parser.parse_args().no_cuda
