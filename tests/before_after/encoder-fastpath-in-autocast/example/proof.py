"""Training works; the first validation with a padded batch does not."""

import torch

from codemods.verify.observe import observe

SYMPTOM = "expected scalar type Float but found BFloat16"


def padded(steps=3, size=4, length=6, features=16):
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(size, length, features, generator=generator)
        padding = torch.arange(length)[None] >= torch.tensor([6, 5, 3, 2])[:, None]
        yield x, x.mean(-1), padding


def run(case):
    model, losses = case.train(padded())
    seen = observe(model)
    seen.losses = losses
    return seen
