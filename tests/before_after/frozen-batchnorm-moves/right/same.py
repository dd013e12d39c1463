"""Each class is right for a reason of its own; an attribute of one name belongs to one class."""

import lightning
import torch
import torchvision
from torch import nn


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))

    def forward(self, x):
        return self.layers(x).mean((2, 3))


class WithItsOwnTrain(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.body.eval()
        self.body.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.body(x)


class SwitchedInForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torchvision.models.resnet18()
        self.backbone.eval()
        self.backbone.requires_grad_(False)

    def forward(self, x):
        self.backbone.eval()
        return self.backbone(x)


class SwitchedInTheLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Body().eval()
        self.encoder.eval()
        self.encoder.requires_grad_(False)

    def forward(self, x):
        return self.encoder(x)


class WithoutStatistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8))
        self.stem.eval()
        self.stem.requires_grad_(False)

    def forward(self, x):
        return self.stem(x)


class FeatureExtractor(nn.Module):  # statistics of new data may be meant: nobody asks for evaluation mode
    def __init__(self):
        super().__init__()
        self.features = torchvision.models.resnet18()
        for p in self.features.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.features(x)


class NeverCalled(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = Body()
        self.teacher.eval()
        self.teacher.requires_grad_(False)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(x)


class OnlyEvaluated(nn.Module):
    def __init__(self):
        super().__init__()
        self.extractor = Body()
        self.extractor.eval()
        self.extractor.requires_grad_(False)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.extractor(x))


class Trained(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.trunk = Body()
        self.trunk.eval()
        self.trunk.requires_grad_(False)

    def training_step(self, batch, index):
        return self.trunk(batch).mean()


def main(batches):
    for model in (WithItsOwnTrain(), SwitchedInForward(), WithoutStatistics(), FeatureExtractor(), NeverCalled()):
        model.train()
    for model in [WithItsOwnTrain()]:
        model.train()
    own = WithItsOwnTrain()
    own.train()
    forward = SwitchedInForward()
    forward.train()
    loop = SwitchedInTheLoop()
    loop.train()
    loop.encoder.eval()
    plain = WithoutStatistics()
    plain.train()
    features = FeatureExtractor()
    features.train()
    never = NeverCalled()
    never.train()
    head = OnlyEvaluated()
    head.head.train()
    trained = Trained()
    trained.train()


def stay(self, mode=True):
    return self


class WithoutSwitch(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = Body()
        self.tower.eval()
        self.tower.requires_grad_(False)
        self.tower.train = stay

    def forward(self, x):
        return self.tower(x)


def fit():
    model = WithoutSwitch()
    model.train()
