import torch


class ArmijoSGD(torch.optim.Optimizer):
    """Steps along the gradients that are there, and backtracks until the loss falls enough."""

    def __init__(self, params, lr=1.0, c=0.1, shrink=0.5, tries=10):
        super().__init__(params, dict(lr=lr, c=c, shrink=shrink, tries=tries))

    @torch.no_grad()
    def step(self, closure):
        group = self.param_groups[0]
        params = [p for p in group["params"] if p.grad is not None]
        start = [p.clone() for p in params]
        slope = sum(p.grad.pow(2).sum() for p in params)
        before = closure()
        rate = group["lr"]
        for _ in range(group["tries"]):
            for p, origin in zip(params, start):
                p.copy_(origin).add_(p.grad, alpha=-rate)
            loss = closure()
            if loss <= before - group["c"] * rate * slope:
                break
            rate *= group["shrink"]
        return loss
