"""A small Qwen2: the old names warn, the new ones train the same."""

import tempfile

import torch

from codemods.verify.observe import watch

SYMPTOM = "`gradient_checkpointing` is deprecated and will be removed in v6"


def run(case):
    torch.manual_seed(0)
    model = case.build()
    generator = torch.Generator().manual_seed(3)
    ids = [torch.randint(64, (8,), generator=generator) for _ in range(12)]
    with watch(model) as seen:
        seen.losses = [case.main([{"input_ids": i, "labels": i} for i in ids], model, tempfile.mkdtemp()).training_loss]
    return seen
