"""In a float16 region the old call computes in bfloat16, and so has the new one to do."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "`torch.cpu.amp.autocast(args...)` is deprecated"


def run(case):
    torch.manual_seed(3)
    model = case.Gate()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with watch(model) as seen:
        for x, y in batches():
            optimizer.zero_grad()
            loss = case.train_step(model, x, y)
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    assert set(model.dtypes) == {torch.bfloat16}
    return seen
