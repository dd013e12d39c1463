from transformers import TrainingArguments

args = TrainingArguments(output_dir="out", evaluation_strategy="epoch")
