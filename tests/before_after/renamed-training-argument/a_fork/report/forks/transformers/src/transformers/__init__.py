from .training_args import TrainingArguments
