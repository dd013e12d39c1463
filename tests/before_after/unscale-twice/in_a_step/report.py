import torch


class Trainer:
    def __init__(self, net, clip):
        self.net, self.clip = net, clip
        self.optimizer = torch.optim.SGD(net.parameters(), 0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, x):
        self.scaler.scale(self.net(x).mean()).backward()
        self.scaler.unscale_(self.optimizer)
        norm = sum(p.grad.norm() for p in self.net.parameters())
        if self.clip:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm
