from collections import deque

import torch


class Memory:
    def __init__(self, size=4):
        self.items = deque(maxlen=size)

    def exchange(self, z):
        past = torch.cat(list(self.items)) if self.items else z
        self.items.append(z)
        return past
