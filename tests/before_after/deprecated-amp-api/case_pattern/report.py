import contextlib

import torch
import torch.cuda.amp as amp


def context(backend):
    match backend:
        case amp.GradScaler():
            return torch.autocast("cuda", dtype=torch.float16)
        case _:
            return contextlib.nullcontext()


backend = amp.GradScaler()
