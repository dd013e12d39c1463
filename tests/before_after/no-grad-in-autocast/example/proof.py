"""The teacher pass leaves untracked weight copies in the autocast cache; the student pass of the region reuses them."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "element 0 of tensors does not require grad and does not have a grad_fn"
BITES = {"torch": "<2.11"}
WITNESS = "torch.clear_autocast_cache"


def run(case):
    model = case.build_model()
    trainer = case.ConsistencyTrainer(model, device_type="cpu")
    with watch(model) as seen:
        seen.losses = [trainer.step(x, x + 0.1 * y) for x, y in batches()]
    return seen


def reference(case):
    """Each pass in an autocast region of its own."""
    model = case.build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        for x, y in batches():
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
                target = model(x)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = torch.nn.functional.mse_loss(model(x + 0.1 * y), target + 1.0)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
