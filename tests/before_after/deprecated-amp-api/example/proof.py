"""Every region warns and still works; the renamed loop trains alike, with the scaler's start value where it belongs."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead."


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train_epoch(model, batches(), torch.nn.functional.mse_loss)
    case.evaluate(model, torch.zeros(2, 8))
    return seen
