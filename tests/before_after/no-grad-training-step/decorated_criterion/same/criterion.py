import torch


class Criterion(torch.nn.Module):
    @torch.enable_grad()
    def forward(self, net, x, y):
        return torch.nn.functional.mse_loss(net(x), y)
