import torch


class Own(torch.optim.SGD):
    """Its step knows gradients that nobody else sees."""

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.sub_(p.kept)
