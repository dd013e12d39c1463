from transformers import TrainingArguments

from somewhere import settings

args = TrainingArguments("out", fp16=True, bf16=True, **settings)
