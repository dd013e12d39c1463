import torch.nn.functional as F
from torch import nn

from nets import Decayed
from optim import PlainSGD

LAYERS = {"linear": nn.Linear, "decayed": Decayed}


def train(x, y, kind="decayed", steps=2):
    model = nn.Sequential(LAYERS[kind](8, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = PlainSGD(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(steps)]
