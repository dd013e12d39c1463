import torch


class SlowWeights:
    def __init__(self, model, rate=0.5, every=5):
        self.model = model
        self.rate = rate
        self.every = every
        self.slow = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def pull(self, i):
        if (i + 1) % self.every == 0:
            for slow, p in zip(self.slow, self.model.parameters()):
                slow.lerp_(p, self.rate)
                p.copy_(slow)
