# fixer: unsafe
import torch
from torch import nn


class Training:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def loss(self, x, y):
        return self.criterion(self.model(x).softmax(-1), y) + nn.CrossEntropyLoss()(
            target=y, input=nn.Softmax(dim=1)(self.model(x))
        )
