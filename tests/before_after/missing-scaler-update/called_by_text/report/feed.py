import operator

import torch

_live = []
_tick = operator.methodcaller("update")


class Registered(torch.amp.GradScaler):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        _live.append(self)


def batches(loader):
    for batch in loader:
        yield batch
        for state in _live:
            _tick(state)
