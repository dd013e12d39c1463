from transformers import TrainingArguments


def build(flag, kwargs):
    a = TrainingArguments("out", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False})
    b = TrainingArguments("out", gradient_checkpointing=True, gradient_checkpointing_kwargs=kwargs)
    c = TrainingArguments("out", gradient_checkpointing=False)
    d = TrainingArguments("out", gradient_checkpointing=flag)
    e = TrainingArguments("out", activation_checkpointing=True)
    return a, b, c, d, e
