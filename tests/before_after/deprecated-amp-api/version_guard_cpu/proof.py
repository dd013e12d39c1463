"""Both branches of the choice make the same scaler; the new one does not warn."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "`torch.cpu.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cpu', args...)` instead."


def run(case):
    torch.manual_seed(3)
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.train_epoch(model, batches(), torch.nn.functional.mse_loss)
    return seen
