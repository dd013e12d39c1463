"""The student runs in the block, too: with a call the program runs, and trains nothing."""

import torch


def train(student, teacher, optimizer, loader):
    for x in loader:
        with torch.no_grad:
            wanted = teacher(x).softmax(-1)
            given = student(x).log_softmax(-1)
        loss = -(wanted * given).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
