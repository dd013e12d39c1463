# fixer: target=torch==2.6
import torch


def run(function, *tensors):
    dtype = torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else torch.get_autocast_cpu_dtype()
    if torch.is_autocast_cpu_enabled():
        torch.set_autocast_cpu_dtype(torch.bfloat16)
        torch.set_autocast_cpu_enabled(False)
    torch.set_autocast_gpu_dtype(dtype)
    return function(*(t.to(dtype) for t in tensors))
