"""The blocks get no gradient and never train; the head does, so that nothing is raised."""

import torch

from codemods.verify.observe import watch

SYMPTOM = "missing-gradient"


def data():
    generator = torch.Generator().manual_seed(2)
    for _ in range(4):
        yield torch.randint(32, (3, 5), generator=generator), torch.randint(4, (3,), generator=generator)


def run(case):
    torch.manual_seed(0)
    model = case.Classifier()
    with watch(model) as seen:
        torch.manual_seed(1)
        seen.losses = case.train(model, data())
    return seen


def reference(case):
    """The same training without checkpointing."""
    case.checkpoint = lambda block, x, **_: block(x)
    return run(case)
