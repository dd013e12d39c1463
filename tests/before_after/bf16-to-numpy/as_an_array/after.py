# fixer: unsafe
import numpy as np
import torch

KIND = torch.bfloat16


def collect(x):
    low = torch.randn(4, 3, dtype=KIND)
    first = np.array(low[0].float())
    print(np.asarray(x.type(torch.bfloat16).detach().reshape(2, -1).float()).mean(), first.shape)
    rows = [np.asarray(x.to("cpu", torch.bfloat16).to("cpu")[:2].float())]
    return first, rows
