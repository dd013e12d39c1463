# fixer: unsafe
from dataclasses import dataclass, field

import transformers


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: str = field(default=None)


args = TrainingArguments('out', gradient_checkpointing=True)


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
