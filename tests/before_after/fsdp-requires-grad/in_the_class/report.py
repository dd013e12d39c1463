import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = nn.Linear(8, 8)
        self.vision.requires_grad_(False)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.vision(x))


class Settable(nn.Module):
    def __init__(self, freeze):
        super().__init__()
        self.vision = nn.Linear(8, 8)
        self.head = nn.Linear(8, 1)
        if freeze:
            self.vision.requires_grad_(False)


def plain(device):
    model = FSDP(Net().to(device), device_id=device)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)


def settable(device):
    model = Settable(True)
    model = FSDP(model)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)


def adapter(base):
    model = get_peft_model(base, LoraConfig(r=8))
    model = FSDP(model)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)
