from transformers import TrainingArguments


def build(options, *args):
    return TrainingArguments("out", gradient_checkpointing=True, **options), TrainingArguments(*args, **options)
