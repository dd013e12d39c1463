"""Modes that are restored, and models that are meant to be evaluated."""

import torch
import torch.nn.functional as F
from torch import nn


def restored(model, x):
    was = model.training
    model.eval()
    with torch.no_grad():
        model(x)
    model.train(was)


def evaluate(model, x):
    model.eval()
    with torch.no_grad():
        model(x)


def at_the_head(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(3):
        model.train()
        for inputs, targets in batches:
            optimizer.zero_grad()
            F.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        evaluate(model, x)


def by_the_helper(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for _ in range(3):
        for inputs, targets in batches:
            optimizer.zero_grad()
            F.mse_loss(model(inputs), targets).backward()
            optimizer.step()
        restored(model, x)


def once_at_the_end(batches, x):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    evaluate(model, x)


def without_dropout(batches):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    model(torch.ones(1, 8))
    model.eval()
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()


def a_frozen_part(batches):
    model = nn.Sequential(nn.BatchNorm1d(8), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for inputs, targets in batches:
        model[0].eval()
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()


def an_average(batches, x):
    model, average = nn.Linear(8, 1), nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        evaluate(average, x)
