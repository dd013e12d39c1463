from transformers import TrainingArguments

arguments = TrainingArguments("out")
