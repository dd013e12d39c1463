import torch
from torch import nn


def before(model, classes):
    model.head = nn.Linear(model.head.in_features, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return optimizer


def in_place(model, weights, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.load_state_dict(weights)
    model.to(device)
    model.act = nn.ReLU()
    model.pool = nn.Sequential(nn.ReLU(), nn.Flatten())
    model.head.weight.data = torch.zeros(3)
    optimizer.step()


def made_anew(model, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.head = nn.Linear(model.head.in_features, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()


def another(model, teacher, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    teacher.head = nn.Linear(8, classes)
    optimizer.step()


def stages(models, classes):
    for model in models:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.step()
        model.head = nn.Linear(8, classes)


def of_the_head(model, classes):
    optimizer = torch.optim.SGD(model.body.parameters(), lr=0.1)
    model.head = nn.Linear(8, classes)
    optimizer.step()
