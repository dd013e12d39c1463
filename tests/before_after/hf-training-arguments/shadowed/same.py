from transformers import TrainingArguments


def build(TrainingArguments):
    return TrainingArguments("out", gradient_checkpointing=True)
