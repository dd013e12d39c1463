"""Steps of clipped gradients. What fp16 brings on a GPU, a gradient scaler, is put into the Accelerator of this CPU."""

import accelerate
import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, cpu_scaler, settle, watch

SYMPTOM = "differs"
TOLERANCE = 1e-2


class Scaling(accelerate.Accelerator):
    def __init__(self, mixed_precision):
        super().__init__(cpu=True)
        self.scaler, self.native_amp = cpu_scaler(), True
        self.state._mixed_precision = mixed_precision


def run(case):
    settle()
    case.Accelerator = Scaling
    model = torch.nn.Linear(8, 1)
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    seen.gradients = {}
    seen.weights = {}
    return seen


def reference(case):
    settle()
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for x, y in batches():
            loss = F.mse_loss(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            optimizer.zero_grad()
            seen.losses.append(loss.item())
    seen.gradients = {}
    seen.weights = {}
    return seen
