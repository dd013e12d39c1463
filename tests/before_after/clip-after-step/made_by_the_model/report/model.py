import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8))

    def forward(self, x):
        return self.body(x).pow(2).mean()

    def configure_optimizers(self, rate):
        decayed = set()
        for name, module in self.named_modules():
            for each, _ in module.named_parameters(recurse=False):
                if isinstance(module, nn.Linear):
                    decayed.add(f"{name}.{each}")
        by_name = dict(self.named_parameters())
        groups = [
            {"params": [by_name[name] for name in sorted(decayed)], "weight_decay": 0.1},
            {"params": [by_name[name] for name in sorted(by_name.keys() - decayed)], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=rate)
