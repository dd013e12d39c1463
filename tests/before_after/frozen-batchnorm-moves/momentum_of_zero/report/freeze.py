from torch import nn


def hold_statistics(module):
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = 0.0
