import logging
import os

import torch


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.sum = 0.0
        self.count = 0
        self.avg = 0.0

    def add(self, value, n=1):
        self.sum += value * n
        self.count += n
        self.avg = self.sum / self.count


def accuracy(output, target):
    with torch.no_grad():
        return (output.argmax(1) == target).float().mean().item()


def save_checkpoint(state, folder):
    os.makedirs(folder, exist_ok=True)
    torch.save(state, os.path.join(folder, "last.pt"))


def get_logger(name):
    logging.basicConfig(level=logging.INFO)
    return logging.getLogger(name)
