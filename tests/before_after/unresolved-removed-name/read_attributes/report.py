# fixer: upgrade=transformers@5.23.0
"""Arguments that are read of objects which nobody knows."""

import transformers


def remember(trainer, outputs):
    if trainer.args.past_index >= 0:
        trainer.past = outputs[trainer.args.past_index]


def wraps(settings):
    return settings.sharded_ddp or settings.use_ipex
