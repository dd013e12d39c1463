from transformers import TrainingArguments


class TrainingArguments(TrainingArguments):
    def __init__(self, fp16, bf16):
        super().__init__("out", bf16=bf16 and not fp16)


args = TrainingArguments(fp16=True, bf16=True)


def measure(TrainingArguments):
    return TrainingArguments(fp16=True, bf16=True)
