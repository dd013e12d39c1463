# fixer: unsafe
import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Net(torch.nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(Block(width))
        self.heads = {"a": torch.nn.Linear(width, 1), "b": torch.nn.Linear(width, 2)}

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            x = block(x)
        return self.heads["a"](x)
