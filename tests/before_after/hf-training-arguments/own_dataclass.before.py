# fixer: unsafe
from dataclasses import dataclass, field

import transformers


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: str = field(default=None)


args = TrainingArguments('out', gradient_checkpointing=True)
