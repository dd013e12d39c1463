# fixer: upgrade=transformers@5.23.0
"""A class of the project's that a function is given, and makes a trainer of."""

from transformers import Seq2SeqTrainer


class Summarizer(Seq2SeqTrainer):
    def __init__(self, *args, length=0, **kwargs):
        super().__init__(*args, **kwargs)
        self.length = length


def main(model, tokenizer, trainer_class):
    return trainer_class(model=model, tokenizer=tokenizer)


def other(model, tokenizer, pipeline_class):
    return pipeline_class(model=model, tokenizer=tokenizer)


if __name__ == "__main__":
    main(None, None, Summarizer)
