import torch


def region(half):
    if half:
        return torch.cuda.amp.autocast(dtype=torch.float16)
    return torch.autocast("cuda", dtype=torch.bfloat16)
