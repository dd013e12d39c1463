import torch


class LineSearch(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        while closure() > self.limit:
            self.shrink()
        best = min(self.best, closure())
        return best

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]
