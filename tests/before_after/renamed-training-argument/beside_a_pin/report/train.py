from transformers import TrainingArguments

args = TrainingArguments("out", evaluation_strategy="steps")
