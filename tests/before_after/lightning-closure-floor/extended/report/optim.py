import torch
from transformers import Adafactor


class ClosureFirst(Adafactor):
    """Runs the closure itself, with gradients on: Adafactor.step is under no_grad."""

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        super().step()
        return loss
