# fixer: unsafe
import torch
from torch import nn


class Saliency(nn.Module):
    def forward(self, image):
        image = image.to(torch.float32)
        image.requires_grad_()
        self.net(image).max().backward()
        return image.grad.abs()
