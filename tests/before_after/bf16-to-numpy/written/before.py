# fixer: unsafe
import torch


def shifted(x):
    low = x.to(dtype=torch.bfloat16)
    array = low.numpy()
    array += 1
    other = low.numpy()
    other[0] = 0
    raw = low.numpy()
    print(raw.view("uint16"))
    return low
