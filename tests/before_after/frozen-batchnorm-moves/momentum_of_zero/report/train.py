from freeze import hold_statistics
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.body.eval()
        for p in self.body.parameters():
            p.requires_grad = False
        hold_statistics(self.body)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def train(batches, optimizer):
    model = Classifier()
    model.train()
    for x in batches:
        model(x).mean().backward()
        optimizer.step()
