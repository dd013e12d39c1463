import functools

import pytorch_lightning as pl
import torch


class Base(pl.LightningModule):
    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val=1.0, gradient_clip_algorithm="norm")

    @staticmethod
    def awake(closure):
        @functools.wraps(closure)
        def run(*args, **kwargs):
            before = torch.is_grad_enabled()
            torch._C._set_grad_enabled(True)
            try:
                return closure(*args, **kwargs)
            finally:
                torch._C._set_grad_enabled(before)

        return run


def _optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
    optimizer.step(closure=self.awake(optimizer_closure))


setattr(Base, "_".join(("optimizer", "step")), _optimizer_step)
