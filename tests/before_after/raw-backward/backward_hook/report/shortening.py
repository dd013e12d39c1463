"""A raw `backward()` never ran this hook. Run in float32: the weights move by 0.225 before, by 0.0386 after."""

import lightning.pytorch as pl
import torch


class Shortening(pl.Callback):
    def on_after_backward(self, trainer, module):
        torch.nn.utils.clip_grad_norm_(module.parameters(), 0.5)
