"""The first step fails; with the parameter, handed on, the model trains."""

import tempfile

import torch

from codemods.verify.observe import watch

SYMPTOM = "got an unexpected keyword argument 'num_items_in_batch'"


def run(case):
    torch.manual_seed(0)
    model = case.Regression()
    features = torch.randn(16, 4)
    rows = [{"features": f, "labels": f.sum(0, keepdim=True)} for f in features]
    with watch(model) as seen:
        seen.losses = [case.main(rows, model, tempfile.mkdtemp()).training_loss]
    return seen
