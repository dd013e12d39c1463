import torch


class Scaling(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(classes))

    def forward(self, logits):
        return logits * self.scale
