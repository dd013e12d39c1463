import torch


class SAM(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        assert closure is not None, "Sharpness Aware Minimization requires closure"
        closure = torch.enable_grad()(closure)  # the closure should do a full forward-backward pass
        self.first_step(zero_grad=True)
        closure()
        self.second_step()


class Right(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        return loss


class Undecorated(torch.optim.Optimizer):
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        with torch.no_grad():
            self.update()
        return loss


class Lookahead(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        return self.optimizer.step(closure)


class Retrying(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        return loss if loss is not None else closure()


class Switched(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        torch.set_grad_enabled(True)
        loss = closure()
        torch.set_grad_enabled(False)
        return loss


class Nested(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        @torch.enable_grad()
        def run():
            return closure()

        return run()


class Differentiable(torch.optim.Adam):
    @torch.optim.optimizer._use_grad_for_differentiable
    def step(self, closure=None):
        return closure()


class Scheduler:
    @torch.no_grad()
    def step(self, closure=None):
        return closure()


class Guarded(torch.optim.Optimizer):
    @torch.no_grad()
    @torch.enable_grad()
    def step(self, closure=None):
        return closure()

    @torch.no_grad()
    def evaluate(self, closure):
        return closure()
