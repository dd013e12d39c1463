import contextlib

import torch as th
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, dtype=None):
        self.model = model
        self.dtype = dtype

    @contextlib.contextmanager
    def precision(self):
        with th.autocast("cuda", dtype=self.dtype):
            yield

    def context(self):
        return th.autocast("cuda") if self.dtype else contextlib.nullcontext()

    def step(self, x):
        with self.precision():
            with th.no_grad():
                target = self.model(x)
            F.mse_loss(self.model(x + 0.1), target).backward()
        with self.context(), th.enable_grad():
            with th.set_grad_enabled(False):
                target = self.model(x)
            F.mse_loss(self.model(x + 0.1), target).backward()


def chosen(model, x, use_amp):
    amp = th.cuda.amp.autocast if use_amp else contextlib.nullcontext
    with amp():
        with th.no_grad():
            # the target
            target = model(x)
            # nothing else
        F.mse_loss(model(x + 0.1), target).backward()
