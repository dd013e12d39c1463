import torch


class NoiseLevel:
    def __init__(self, lr=0.1):
        self.log_sigma = torch.nn.Parameter(torch.zeros(()))
        self.optimizer = torch.optim.SGD([self.log_sigma], lr=lr)

    def on_backward_end(self):
        self.optimizer.step()
        self.optimizer.zero_grad()
