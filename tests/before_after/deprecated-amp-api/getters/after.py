# fixer: target=torch==2.6
import torch


def run(function, *tensors):
    dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled() else torch.get_autocast_dtype("cpu")
    if torch.is_autocast_enabled("cpu"):
        torch.set_autocast_dtype("cpu", torch.bfloat16)
        torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cuda", dtype)
    return function(*(t.to(dtype) for t in tensors))
