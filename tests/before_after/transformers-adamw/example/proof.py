"""The import fails; torch's optimizer with the old defaults does what the old one did, written down from 4.49."""

import math

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "cannot import name 'AdamW' from 'transformers'"
BITES = {"transformers": ">=4.50"}
TOLERANCE = 2e-2  # the old step adds eps before the bias correction: up to 32 times as much in the first steps


class OldAdamW(torch.optim.Optimizer):
    """Transformers' AdamW with its defaults: no weight decay, eps 1e-6, bias corrected in the step size."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(step=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
                state["step"] += 1
                state["mean"].mul_(0.9).add_(p.grad, alpha=0.1)
                state["square"].mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
                size = group["lr"] * math.sqrt(1 - 0.999 ** state["step"]) / (1 - 0.9 ** state["step"])
                p.addcdiv_(state["mean"], state["square"].sqrt().add_(1e-6), value=-size)


def _model():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))


def run(case):
    model = _model()
    optimizer, scheduler = case.build(model, 0, 10)
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), optimizer, scheduler)
    seen.witness = int(type(optimizer) is torch.optim.AdamW)
    return seen


def reference(case):
    model = _model()
    optimizer = OldAdamW(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for step, (x, y) in enumerate(batches()):
            optimizer.param_groups[0]["lr"] = 0.05 * (10 - step) / 10
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.losses.append(loss.item())
    return seen
