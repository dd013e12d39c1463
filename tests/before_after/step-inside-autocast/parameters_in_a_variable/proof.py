"""Two modules whose parameters an optimizer got by way of a variable: each round trains the weights of the last one."""

import torch
import torch.nn.functional as F

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
WITNESS = "torch.clear_autocast_cache"


def run(case):
    torch.manual_seed(3)
    pair = case.Pair()
    with watch(torch.nn.ModuleList([pair.front, pair.back])) as seen:
        pair.train(noted(seen, pair))
    return seen


def noted(seen, pair):
    """The batches, each with the loss of the weights as they are then."""
    for x, y in batches():
        with torch.autocast("cpu", enabled=False):
            seen.losses.append(F.mse_loss(pair.back(pair.front(x)), y).item())
        yield x, y


def reference(case):
    """The same training with a region around each round."""
    torch.manual_seed(3)
    pair = case.Pair()
    with watch(torch.nn.ModuleList([pair.front, pair.back])) as seen:
        for x, y in noted(seen, pair):
            pair.both.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.mse_loss(pair.back(pair.front(x)), y)
            loss.backward()
            pair.both.step()
    return seen
