"""No autocast around the pass without gradients: in float32 now, so the numbers are close, not equal."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"torch": "<2.11"}
TOLERANCE = 0.02


def run(case):
    """The repair is seen in the passes that run outside of autocast."""
    outside = []
    model = case.build_model()
    model.register_forward_hook(lambda *_: outside.append(not torch.is_autocast_cpu_enabled()))
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), device_type="cpu")
    seen.witness = sum(outside)
    return seen


def reference(case):
    """The same training in float32 throughout."""
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        for x, _ in batches():
            target = model(x).detach()
            loss = torch.nn.functional.mse_loss(model(x + 0.1), target + 1.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
