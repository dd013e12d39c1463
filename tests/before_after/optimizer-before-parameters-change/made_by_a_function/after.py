# fixer: unsafe
import torch
import torchvision
from torch import nn


def make_optimizer(model, args):
    if args.opt == "sgd":
        return torch.optim.SGD(model.parameters(), lr=args.lr)
    return torch.optim.AdamW(model.parameters(), lr=args.lr)


def main(args, loader):
    model = torchvision.models.resnet18(weights="DEFAULT")
    model.fc = nn.Linear(model.fc.in_features, args.classes)
    optimizer = make_optimizer(model, args)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
