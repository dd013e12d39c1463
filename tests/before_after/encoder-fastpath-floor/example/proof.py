"""The floor keeps out every torch whose fused encoder fails under CPU autocast; with the installed one it evaluates.

Poetry's notation in `pyproject.toml` is not read here; it stands for the same releases.
"""

import torch

from codemods.verify.observe import Observation
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows torch 2.2.0"


def run(case):
    return demand_without(case, {"torch": "<2.6"}, evaluate, "mat1 and mat2 must have the same dtype")


def evaluate():
    from tag import Tagger, evaluate

    torch.manual_seed(0)
    outputs = evaluate(Tagger(), [torch.randn(2, 5, 64) for _ in range(3)])
    return Observation(numbers={f"batch {n}": output.float().norm().item() for n, output in enumerate(outputs)})
