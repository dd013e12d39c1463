from torch import nn


class Reader(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.cell = nn.GRU(width, width)
        self.head = nn.Linear(width, width)
        self.state = None

    def forward(self, x):
        h, self.state = self.cell(x, self.state)
        return self.head(h)
