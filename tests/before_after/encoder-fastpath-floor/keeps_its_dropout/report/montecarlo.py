import torch.nn as nn


class MonteCarlo(nn.Module):
    """Evaluation draws: what holds dropout goes on drawing."""

    def train(self, mode=True):
        super().train(mode)
        holders = [m for m in self.modules() if any(isinstance(c, nn.Dropout) for c in m.modules())]
        for module in holders:
            if module is not self:
                module.training = True
        return self
