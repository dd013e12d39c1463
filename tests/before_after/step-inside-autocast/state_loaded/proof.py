"""A reference state loaded between two passes of a region."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"


def run(case):
    model = case.build_model()
    with watch(model) as seen:
        seen.losses = case.train(model, batches(), device_type="cpu")
    return seen


def reference(case):
    """Each pass in a region of its own."""
    model = case.build_model()
    with watch(model) as seen:
        reference = {name: 0.5 * value for name, value in model.state_dict().items()}
        for x, _ in batches():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                own = model(x)
            model.load_state_dict(reference)
            with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
                base = model(x)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.mse_loss(own, base + 1.0)
            seen.losses.append(loss.item())
            F.mse_loss(model(x), base.float()).backward()
    return seen
