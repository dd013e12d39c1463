from common import image
from transformers import TrainingArguments

arguments = TrainingArguments("out", evaluation_strategy="steps")
