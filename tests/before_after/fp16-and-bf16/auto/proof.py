"""Both sections on under a Trainer: whatever its arguments say, one contradicts them; "auto" follows the arguments.

Transformers fills the file in, and DeepSpeed reads the result. Training itself is left out: DeepSpeed wants a GPU.
"""

import torch
from deepspeed.runtime.config import DeepSpeedConfig
from transformers import TrainingArguments

from codemods.verify.observe import Observation

SYMPTOM = "ds fp16.enabled=True vs hf fp16|fp16_full_eval"


def run(case):
    seen = Observation()
    for wanted in ("bf16", "fp16"):
        arguments = TrainingArguments("out", deepspeed=str(case / "ds_config.json"), use_cpu=True, **{wanted: True})
        arguments.hf_deepspeed_config.trainer_config_finalize(arguments, torch.nn.Linear(2, 2), 10)
        filled = arguments.hf_deepspeed_config.config
        DeepSpeedConfig(filled)
        seen.numbers |= {f"{section} with {wanted}=True": filled[section]["enabled"] for section in ("fp16", "bf16")}
    return seen


def reference(case):
    each = [(section, wanted) for section in ("fp16", "bf16") for wanted in ("fp16", "bf16")]
    return Observation(numbers={f"{section} with {wanted}=True": section == wanted for section, wanted in each})
