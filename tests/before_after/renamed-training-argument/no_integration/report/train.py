from transformers import TrainingArguments

arguments = TrainingArguments(output_dir="runs", report_to=None)
quiet = TrainingArguments(output_dir="runs", report_to="none")
