import torch.nn as nn


class Holder:
    def __init__(self):
        self.net = nn.Linear(2, 2)

    def start(self):
        self.net.gradient_checkpointing_enable()
