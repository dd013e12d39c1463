import torch


class Sparse:
    """Adds an L1 penalty to whatever loss the trainer below makes."""
    weight = 1e-4

    def with_penalty(self, model, loss):
        total = sum(p.abs().sum() for n, p in model.named_parameters() if "gate" in n)
        return loss + self.weight * total
