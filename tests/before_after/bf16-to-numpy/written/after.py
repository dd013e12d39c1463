# fixer: unsafe
import torch


def shifted(x):
    low = x.to(dtype=torch.bfloat16)
    array = low.float().numpy()
    array += 1
    other = low.float().numpy()
    other[0] = 0
    raw = low.float().numpy()
    print(raw.view("uint16"))
    return low
