"""In a whole graph the assignment raises; without it all trains, the embedding below the cast too."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "you can only change requires_grad flags of leaf variables."


def run(case):
    torch.manual_seed(0)
    model = case.Net()
    with watch(model) as seen:
        seen.losses = case.train(model, batches())
    return seen


def reference(case):
    """The same training, the norm written without the class."""
    torch.manual_seed(0)
    model = case.Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        for x, y in batches():
            hidden = model.embed(x.to(torch.bfloat16)).float()
            scale = torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-6)
            hidden = model.norm.weight * (hidden * scale).bfloat16()
            loss = torch.nn.functional.mse_loss(model.head(hidden.float()), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
