"""The getters and setters warn; their successors with a device say and do the same."""

import torch

from codemods.verify.observe import Observation

SYMPTOM = "torch.get_autocast_cpu_dtype() is deprecated. Please use torch.get_autocast_dtype('cpu') instead."


def run(case):
    x = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = case.run(torch.matmul, x, x)
        off = torch.is_autocast_enabled("cpu")
    return Observation(numbers={"sum": y.float().sum().item(), "off": float(off)})
