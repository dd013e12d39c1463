import torch

from loop import fit
from runtimes import start


def main(model, batches):
    return fit(start(), model, torch.optim.SGD(model.parameters(), lr=0.1), batches)
