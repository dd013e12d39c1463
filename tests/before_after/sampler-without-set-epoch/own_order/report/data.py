import torch
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, x):
        self.x = x
        self.rows = list(range(len(x)))

    def turn(self):
        self.rows = self.rows[1:] + self.rows[:1]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[self.rows[i]]


class Drawn(Rows):
    def turn(self):
        self.rows = torch.randperm(len(self.x), generator=torch.Generator().manual_seed(0))
