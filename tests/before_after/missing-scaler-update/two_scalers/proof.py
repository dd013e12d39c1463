"""Two scalers, of which one is updated: the second iteration raises; with both it trains."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "step() has already been called since the last update()."


def run(case):
    generator, critic = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    with watch(generator, critic) as seen:
        case.Gan(generator, critic, "cpu").train([x for x, _ in batches()])
    return seen
