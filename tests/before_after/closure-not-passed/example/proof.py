"""One pass in float16 with a gradient scaler: before, no parameter moves; after, every one does."""

import torch

from codemods.verify.observe import batches, fit

SYMPTOM = "frozen"


def run(case):
    torch.manual_seed(0)
    return fit(case.Regressor(), batches(), precision="16-mixed")
