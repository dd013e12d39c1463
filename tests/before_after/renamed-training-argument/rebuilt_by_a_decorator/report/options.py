import torch
from transformers import TrainingArguments


def with_old_names(cls):
    """What the scripts of this team have read for years."""
    for name, get in {"no_cuda": lambda self: self.use_cpu or not torch.cuda.is_available()}.items():
        setattr(cls, name, property(get))
    return cls


@with_old_names
class Options(TrainingArguments):
    pass
