import torch
import torch.nn.functional as F

from features import extract


def probe(backbone, batches, labels):
    head = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for z, label in zip(extract(backbone, batches), labels):
        optimizer.zero_grad()
        F.cross_entropy(head(z), label).backward()
        optimizer.step()
    return head
