"""Steps of a model that writes what two layers give into one tensor, under autocast on the CPU."""

import torch

from codemods.verify.observe import batches, observe, settle

SYMPTOM = "Index put requires the source and destination dtypes match"
TOLERANCE = 1e-6


def run(case):
    settle()
    return observe(case.train(batches()))


class Whole(torch.nn.Module):
    """The same model without a tensor that is written into."""

    def __init__(self):
        super().__init__()
        self.left = torch.nn.Linear(8, 4)
        self.right = torch.nn.Linear(8, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return torch.where(x[:, :1] > 0, self.left(x), self.right(x)).float()


def reference(case):
    """The same steps with it."""
    settle()
    model = Whole()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x).mean(1, keepdim=True), y).backward()
        optimizer.step()
    return observe(model)
