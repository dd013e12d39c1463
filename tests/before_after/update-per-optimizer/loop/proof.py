"""The gradients of the first model overflow once: the scale is halved, and the second takes a step twice too large."""

import torch

from codemods.verify.observe import Observation, batches

SYMPTOM = "differs"
TOLERANCE = 1e-5


def models():
    torch.manual_seed(3)
    return torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)


def overflow(grad):
    return torch.full_like(grad, float("inf"))


def run(case):
    first, second = models()
    first.weight.register_hook(overflow)
    case.train(first, second, batches(steps=1), torch.amp.GradScaler("cpu", init_scale=1024.0))
    return Observation(numbers={"weight": second.weight.sum().item(), "bias": second.bias.item()})


def reference(case):
    """The second model alone, without a scaler: it has nothing to do with the overflow."""
    _, second = models()
    optimizer = torch.optim.SGD(second.parameters(), lr=0.05)
    for inputs, targets in batches(steps=1):
        torch.nn.functional.mse_loss(second(inputs), targets).backward()
        optimizer.step()
    return Observation(numbers={"weight": second.weight.sum().item(), "bias": second.bias.item()})
