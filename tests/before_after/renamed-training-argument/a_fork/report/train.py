import sys

sys.path.append("forks/transformers/src")

from transformers import TrainingArguments

TrainingArguments("out", evaluation_strategy="steps")
