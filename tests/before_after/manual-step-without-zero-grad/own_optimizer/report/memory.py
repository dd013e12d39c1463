import torch


class GradAsMomentum(torch.optim.Optimizer):
    """Saves a buffer: what is left of `.grad` is the momentum of the next step."""

    def __init__(self, params, lr=0.1, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    def step(self, closure=None):
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad, alpha=group["lr"])
                    p.grad.mul_(group["momentum"])
