# fixer: upgrade=transformers@5.23.0
from dataclasses import dataclass, field
from typing import Optional

from transformers import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    report_to: Optional[str] = field(default="none")
    skip_memory_metrics: bool = True
    log_level_replica: str = "warning"
    optim: str = "adamw_torch"
    save_safetensors: bool = True
    average_tokens_across_devices: bool = False
    include_num_input_tokens_seen: str = "no"


def arguments(out):
    return Arguments(output_dir=out)
