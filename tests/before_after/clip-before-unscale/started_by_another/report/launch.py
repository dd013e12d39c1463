"""python launch.py: the entry point of the job; gives every script of this folder our numerics."""
import runpy

import torch

_clip = torch.nn.utils.clip_grad_norm_
_scalers = []
_init = torch.amp.GradScaler.__init__


def _remember(self, *args, **kwargs):
    _init(self, *args, **kwargs)
    _scalers.append(self)


def _clip_scaled(parameters, max_norm, *args, **kwargs):
    factor = _scalers[-1].get_scale() if _scalers else 1.0
    return _clip(parameters, max_norm * factor, *args, **kwargs)


torch.amp.GradScaler.__init__ = _remember
torch.nn.utils.clip_grad_norm_ = _clip_scaled

if __name__ == "__main__":
    runpy.run_path("train.py", run_name="__main__")
