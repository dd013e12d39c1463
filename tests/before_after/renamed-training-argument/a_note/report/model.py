import operator

import torch
from torch.utils.data import Dataset

WISH = operator.attrgetter("no_cuda")


class Toy(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return {"input_ids": torch.arange(8) % 30, "labels": torch.tensor(i % 2)}


def place(module, settings):
    """The teacher stays on the processor if the machine has no card, or the run wants none."""
    return module.cpu() if WISH(settings) else module.cuda()
