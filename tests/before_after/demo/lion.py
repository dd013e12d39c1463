"""Lion (Chen et al., 2023), which needs one moment per parameter where Adam needs two."""

import torch
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()

        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                momentum = state["momentum"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                update = momentum.lerp(p.grad, 1 - beta1).sign_()
                p.add_(update, alpha=-group["lr"])
                momentum.lerp_(p.grad, 1 - beta2)
        return loss
