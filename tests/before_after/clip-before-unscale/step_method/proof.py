"""Backward and step are methods of their own; the clip is in the second."""

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
        trainer = case.Trainer(model, optimizer, 0.5, "cpu")
        for batch in batches():
            trainer.train_step(batch)
            trainer.optimizer_step()
    return seen


def reference(case):
    """The same training without a scaler."""
    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watch(model) as seen:
        for batch in batches():
            optimizer.zero_grad()
            model(batch).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    return seen
