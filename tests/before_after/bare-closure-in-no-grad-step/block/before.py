# fixer: unsafe
import torch


class Plain(torch.optim.SGD):
    def step(self, closure=None):
        with torch.no_grad():
            loss = None if closure is None else closure()
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad * group["lr"])
            return loss


class Bare(torch.optim.Optimizer):
    @torch.no_grad
    def step(self, closure):
        return float(closure())

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]


class Inference(torch.optim.Optimizer):
    @torch.inference_mode()
    def step(self, forward_backward=None):
        value = None
        if forward_backward is not None: value = forward_backward()
        count = 0; forward_backward(); count += 1
        return value, count

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]


class Evaluated(torch.optim.Optimizer):
    @torch.set_grad_enabled(False)
    def step(self, closure=None):
        loss: torch.Tensor = closure().detach()
        return loss

    def gradients(self):
        return [p.grad for group in self.param_groups for p in group["params"]]
