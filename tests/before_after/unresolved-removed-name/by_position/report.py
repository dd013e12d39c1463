# fixer: upgrade=transformers@5.23.0
"""Arguments of the Trainer that are given by their places."""

from transformers import Trainer


class Tagger(Trainer):
    def __init__(self, model, args, collator, train, test, tokenizer, init, metrics, callbacks):
        super().__init__(model, args, collator, train, test, tokenizer, init, metrics, callbacks)


def plain(model, args, collator, train, test):
    return Trainer(model, args, collator, train, test)
