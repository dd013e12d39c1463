"""The encoder comes from outside; what makes it is not in sight. The probe is moved where there is a GPU."""

import torch
import torch.nn.functional as F
from torch import nn
from torchvision import datasets, transforms
from zoo import load


class Probe(nn.Module):
    def __init__(self, encoder, width, classes):
        super().__init__()
        self.encoder = encoder
        self.encoder.eval()
        for param in self.encoder.parameters():
            param.requires_grad = False
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        with torch.no_grad():
            features = self.encoder(x)
        return self.head(features)


def build(path):
    probe = Probe(load(path), 512, 10)
    if torch.cuda.is_available():
        probe = probe.cuda()
    return probe, nn.CrossEntropyLoss()


def train(probe, batches):
    optimizer = torch.optim.SGD(probe.head.parameters(), lr=0.1)
    probe.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(probe(x), y).backward()
        optimizer.step()


def main(path):
    images = datasets.CIFAR10(path, transform=transforms.ToTensor())
    probe, _ = build(path)
    train(probe, torch.utils.data.DataLoader(images, batch_size=64))
