"""TrainingArguments with the names that our users have in their scripts."""
from dataclasses import field, make_dataclass

import transformers


def _carry(self):
    self.use_cpu = self.use_cpu or self.no_cuda
    if self.evaluation_strategy is not None:
        self.eval_strategy = self.evaluation_strategy
    transformers.TrainingArguments.__post_init__(self)


TrainingArguments = make_dataclass(
    "TrainingArguments",
    [("no_cuda", bool, field(default=False)), ("evaluation_strategy", str, field(default=None))],
    bases=(transformers.TrainingArguments,),
    namespace={"__post_init__": _carry},
)
