"""Under manual optimization and 16-mixed, a loss both detached and differentiated past the Trainer."""

import torch

from codemods.verify.observe import batches, fit, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    return fit(case.Regressor(), batches(), precision="16-mixed")


def reference(case):
    """The same training in float32, without Lightning."""
    module = case.Regressor()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with watch(module) as seen:
        for x, y in batches():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(module.net(x), y)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
