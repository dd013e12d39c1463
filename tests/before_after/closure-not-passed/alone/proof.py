"""One pass: before, Lightning raises at the first batch; after, it trains."""

import torch

from codemods.verify.observe import batches, fit

SYMPTOM = "The closure hasn't been executed"


def run(case):
    torch.manual_seed(0)
    return fit(case.Regressor(), batches())
