"""The floor keeps out every Lightning that leaves the autocast cache on around its steps, above a torch below 2.11."""

import torch

from codemods.verify.observe import batches, fit
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows lightning 2.5.2"


def run(case):
    bug = {"lightning": "<2.5.5", "torch": "<2.11"}
    return demand_without(case, bug, train, "element 0 of tensors does not require grad and does not have a grad_fn")


def train():
    """The fixture's module, by a Trainer of the same precision."""
    from train import Net

    torch.manual_seed(0)
    return fit(Net(), [x for x, _ in batches()], precision="bf16-mixed")
