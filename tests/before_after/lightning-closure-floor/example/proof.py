"""The pin moves to a Lightning that switches gradients on in its closure; with a newer one the optimizer trains."""

import torch

from codemods.verify.observe import fit
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows pytorch-lightning 2.0.3"


def run(case):
    bug = {"pytorch-lightning": "<2.0.7"}
    return demand_without(case, bug, train, "element 0 of tensors does not require grad and does not have a grad_fn")


def train():
    from train import Classifier

    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    drawn = [torch.randn(4, 16, generator=generator) for _ in range(3)]
    return fit(Classifier(), [(x, x[:, :4].argmax(-1)) for x in drawn])
