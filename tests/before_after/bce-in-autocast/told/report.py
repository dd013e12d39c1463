import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, x, y):
    x, y = x.cuda(), y.cuda()
    criterion = nn.BCELoss()
    with torch.cuda.amp.autocast():
        probabilities = torch.sigmoid(model(x))
        first = F.binary_cross_entropy(probabilities, y)
        second = criterion(torch.sigmoid(model(x)), y)
        third = F.binary_cross_entropy(model(x).sigmoid().float(), y)
    return first, second, third, probabilities
