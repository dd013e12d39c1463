import random
import torch
from net import Net

net = Net()


def jitter(module, inputs):
    if random.random() < 0.5:
        return (inputs[0] * 2,)


net.layer.register_forward_pre_hook(jitter)
