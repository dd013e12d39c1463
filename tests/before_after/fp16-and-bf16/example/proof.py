"""Both precisions on: the Trainer's arguments refuse, before anything trains; with one of them it trains, on the CPU."""

import tempfile

import torch

from codemods.verify.observe import watch

SYMPTOM = "At most one of fp16 and bf16 can be True, but not both"


def run(case):
    torch.manual_seed(0)
    model = case.Regression()
    features = torch.randn(16, 4)
    rows = [{"features": f, "labels": f.sum(0, keepdim=True)} for f in features]
    with watch(model) as seen:
        seen.losses = [case.main(rows, model, tempfile.mkdtemp(), use_cpu=True, disable_tqdm=True).training_loss]
    return seen
