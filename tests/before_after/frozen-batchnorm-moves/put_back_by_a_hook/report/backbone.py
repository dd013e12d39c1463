from torch import nn


def stay(module, inputs):
    module.eval()


def frozen_backbone(width):
    net = nn.Sequential(nn.Linear(8, width), nn.BatchNorm1d(width), nn.ReLU())
    net.register_forward_pre_hook(stay)
    return net
