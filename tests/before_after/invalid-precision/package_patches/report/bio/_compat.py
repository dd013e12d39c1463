"""Old configs of the group say fp32, fp16 and half; translate before Lightning sees them."""
import functools

import lightning.pytorch as pl

NAMES = {"fp32": "32-true", "fp16": "16-mixed", "half": "16-true"}


def install():
    init = pl.Trainer.__init__

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        if "precision" in kwargs:
            kwargs["precision"] = NAMES.get(kwargs["precision"], kwargs["precision"])
        return init(self, *args, **kwargs)

    pl.Trainer.__init__ = wrapper
