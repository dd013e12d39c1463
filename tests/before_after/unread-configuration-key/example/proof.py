"""Accelerate refuses the file; with the right key it reads it, and the model trains in that precision."""

import torch
from accelerate import Accelerator
from accelerate.commands.config.config_args import load_config_from_file

from codemods.verify.observe import batches, watch

SYMPTOM = "had unknown keys (['mixed_precison'])"


def run(case):
    config = load_config_from_file(str(case / "example.yaml"))
    accelerator = Accelerator(mixed_precision=str(config.mixed_precision), cpu=True)
    model = torch.nn.Linear(8, 1)
    prepared, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    with watch(model) as seen:
        seen.losses = []
        for x, y in batches():
            loss = torch.nn.functional.mse_loss(prepared(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            seen.losses.append(loss.item())
    return seen
