"""Float16 with a gradient scaler, and a clip by Fabric, which unscales first."""

import torch
import torch.nn.functional as F
from lightning.fabric import Fabric
from lightning.fabric.plugins import MixedPrecision

from codemods.verify.observe import batches, cpu_scaler, observe

SYMPTOM = "requires you to call `fabric.backward(loss)` instead of `loss.backward()`"
TOLERANCE = 5e-3  # float16 against float32


def run(case):
    plugin = MixedPrecision("16-mixed", "cpu", cpu_scaler())
    return observe(case.train(Fabric(accelerator="cpu", devices=1, plugins=[plugin]), batches()).module)


def reference(case):
    """The same training in float32, without Fabric."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches():
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return observe(model)
