import functools
import importlib

import torch.utils.checkpoint


def one_variant():
    namespace = torch.utils.checkpoint
    for name in ("checkpoint", "checkpoint_sequential"):
        setattr(namespace, name, functools.partial(getattr(namespace, name), use_reentrant=False))


_module = importlib.import_module("torch.utils.checkpoint")
_reference = _module.checkpoint


def _segment(function, *inputs):
    return _reference(function, *inputs, use_reentrant=False)


_module.checkpoint = _segment
