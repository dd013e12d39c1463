from transformers import TrainingArguments

_init = TrainingArguments.__init__


def _translated(self, *args, evaluation_strategy="no", no_cuda=False, **kwargs):
    kwargs["eval_strategy"] = evaluation_strategy
    kwargs["use_cpu"] = no_cuda
    _init(self, *args, **kwargs)


def install():
    TrainingArguments.__init__ = _translated
