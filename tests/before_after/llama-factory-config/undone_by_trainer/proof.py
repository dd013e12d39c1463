"""`use_reentrant_gc: false` is not enough: the Trainer switches checkpointing on once more, with its own arguments.

The framework and the model are a stand-in, see `stand_in.py`.
"""

from stand_in import configured, train, without_checkpointing

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


def run(case):
    return train(configured(case / "undone_by_trainer.yaml"))


def reference(case):
    return without_checkpointing(configured(case / "undone_by_trainer.yaml"))
