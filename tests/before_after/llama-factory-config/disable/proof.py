"""No checkpointing at all, which the Trainer's own switch must not bring back.

The framework and the model are a stand-in, see `stand_in.py`.
"""

from stand_in import configured, train, without_checkpointing

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"


def run(case):
    return train(configured(case / "disable.yaml"))


def reference(case):
    return without_checkpointing(configured(case / "disable.yaml"))
