"""An empty dictionary is reentrant with every version of Transformers; the numbers stay the same without it."""

import torch

from codemods.verify.observe import watch

SYMPTOM = "the use_reentrant parameter should be passed explicitly"


def run(case):
    return trained(case, case.build())


def reference(case):
    """The same training without checkpointing."""
    model = case.build()
    model.gradient_checkpointing_disable()
    return trained(case, model)


def trained(case, model):
    generator = torch.Generator().manual_seed(3)
    with watch(model) as seen:
        seen.losses = case.train(model, [torch.randint(64, (2, 8), generator=generator) for _ in range(3)])
    return seen
