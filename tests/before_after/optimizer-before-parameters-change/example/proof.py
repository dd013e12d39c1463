"""A new head: how far it is from its beginning after four steps."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 4), torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def run(case):
    settle()
    made = []

    class Linear(torch.nn.Linear):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            made.append(self.weight.detach().clone())

    model = Net()
    case.nn.Linear, plain = Linear, torch.nn.Linear
    try:
        with watch(model.body) as seen:
            seen.losses = case.train(model, batches(targets=2), 2)
    finally:
        case.nn.Linear = plain
    seen.numbers = {"the head moves": float(not torch.equal(model.head.weight.detach(), made[-1]))}
    return seen


def reference(case):
    with watch(torch.nn.Linear(1, 1)) as seen:
        pass
    seen.gradients, seen.weights, seen.moved = {}, {}, {}
    seen.numbers = {"the head moves": 1.0}
    return seen
