import torch
import torch.nn.functional as F

from base import BaseModule


class Model(BaseModule):
    def __init__(self, net, momentum=0.99):
        super().__init__()
        self.net, self.momentum = net, momentum
        self.register_buffer("smooth", torch.zeros(()))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def training_step_end(self, outputs):
        self.smooth.lerp_(outputs["loss"].detach(), 1 - self.momentum)
        self.log("smooth_loss", self.smooth)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
