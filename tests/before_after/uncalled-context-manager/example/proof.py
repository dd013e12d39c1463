"""Training, then evaluation: `with` enters the class `torch.no_grad`, which is no context manager itself."""

import sys

import torch

from codemods.verify.observe import batches, watch

OLD_PYTHON = sys.version_info < (3, 11)
SYMPTOM = "AttributeError: __enter__" if OLD_PYTHON else "does not support the context manager protocol"


def run(case):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        case.train(model, optimizer, batches())
        seen.losses = [case.evaluate(model, batches())]
    return seen
