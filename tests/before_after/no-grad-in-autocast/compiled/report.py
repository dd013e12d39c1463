import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.compile(fullgraph=True)
def step(model, x):
    with torch.autocast("cuda"):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


def scripted(model, x):
    with torch.autocast("cuda"):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


step_scripted = torch.jit.script(scripted)
