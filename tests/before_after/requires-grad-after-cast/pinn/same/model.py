from torch import nn


class Pinn(nn.Module):
    def forward(self, t):
        t = t.float()
        t.requires_grad_()
        return self.net(t), t
