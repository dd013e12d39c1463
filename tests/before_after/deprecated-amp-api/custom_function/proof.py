"""The decorators warn when the module is imported; renamed, they wrap the same functions."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., device_type='cuda')`"


def run(case):
    torch.manual_seed(3)
    model = case.Head()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for x, y in batches():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
