from precisions import *

args = TrainingArguments("out", fp16=True, bf16=True)
