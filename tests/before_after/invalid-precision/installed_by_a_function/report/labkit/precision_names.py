"""The job forms of the lab spell precisions with an underscore; teach Lightning to read them."""
import functools

import lightning.pytorch as pl

NAMES = {"16_mixed": "16-mixed", "bf16_mixed": "bf16-mixed", "full": "32-true", "double": "64-true"}


def _install(cls):
    init = cls.__init__

    @functools.wraps(init)
    def __init__(self, *args, precision="full", **kwargs):
        init(self, *args, precision=NAMES[precision], **kwargs)

    cls.__init__ = __init__


_install(pl.Trainer)
