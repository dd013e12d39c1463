"""Both sections on: DeepSpeed refuses to read the file. Training itself is left out: DeepSpeed wants a GPU."""

import json

from deepspeed.runtime.config import DeepSpeedConfig

from codemods.verify.observe import Observation

SYMPTOM = "bfloat16 and fp16 modes cannot be simultaneously enabled"


def run(case):
    read = DeepSpeedConfig(json.loads((case / "ds.json").read_text()))
    return Observation(numbers={"fp16": read.float16_config.enabled, "bf16": read.bfloat16_config.enabled})


def reference(case):
    return Observation(numbers={"fp16": False, "bf16": True})
