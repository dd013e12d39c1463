"""The clip is shared by both precisions; with a scaler it sees scaled gradients."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


class Regression(torch.nn.Module):
    """A model that gives its loss."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

    def forward(self, batch):
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])


def run(case):
    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model) as seen:
        case.train(model, optimizer, batches(), "cpu", fp16=True, accumulate=2, max_norm=0.5)
    return seen


def reference(case):
    """The same training without a scaler."""
    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model) as seen:
        for step, batch in enumerate(batches()):
            (model(batch) / 2).backward()
            if step % 2:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
    return seen
