"""Makes scripts that were written for our CUDA boxes run on the accelerator cards and on CPU nodes."""
import sys

import torch
import torch.cuda.amp

DEVICE = "cpu"
used = []


class autocast(torch.amp.autocast):
    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        used.append("autocast")
        super().__init__(DEVICE, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=2.0**8, **kwargs):
        used.append("GradScaler")
        super().__init__(DEVICE, init_scale=init_scale, **kwargs)


for _name in ("autocast", "GradScaler"):
    setattr(sys.modules["torch.cuda.amp"], _name, globals()[_name])
