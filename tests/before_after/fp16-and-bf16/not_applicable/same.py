import torch
from transformers import TrainingArguments

from somewhere import settings

one = TrainingArguments("out", bf16=True)
other = TrainingArguments("out", fp16=True, bf16=False)
by_hardware = TrainingArguments("out", fp16=not torch.cuda.is_bf16_supported(), bf16=torch.cuda.is_bf16_supported())
evaluation = TrainingArguments("out", fp16=True, bf16_full_eval=True)  # accepted


def arguments(bf16=True):
    return TrainingArguments("out", fp16=True, bf16=bf16)


# keyword: hidden in a dictionary
hidden = TrainingArguments(**{"output_dir": "out", "fp16": True, "bf16": True})
# splat: whatever the settings say
given = TrainingArguments("out", fp16=True, **settings)
