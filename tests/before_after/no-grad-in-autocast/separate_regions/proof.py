"""The region closed after the block, and opened again."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"torch": "<2.11"}


def run(case):
    entered = []
    enter = torch.autocast.__enter__
    torch.autocast.__enter__ = lambda region: entered.append(region) or enter(region)
    model = case.build_model()
    try:
        with watch(model) as seen:
            seen.losses = case.train(model, batches(), device_type="cpu")
    finally:
        torch.autocast.__enter__ = enter
    seen.witness = len(entered) - len(batches())
    return seen
