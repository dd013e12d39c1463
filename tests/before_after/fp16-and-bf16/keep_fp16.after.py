# fixer: unsafe strategy=keep-fp16
from transformers import TrainingArguments

args = TrainingArguments("out", fp16=True, bf16=False)
