import torch


class LineSearch(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self, closure):
        before = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad, alpha=0.1)
        return before
