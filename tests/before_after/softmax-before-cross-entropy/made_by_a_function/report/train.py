import torch
from model import build_model
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, cfg):
        self.model = build_model(cfg).to(cfg.device)
        if cfg.distributed:
            self.model = DistributedDataParallel(self.model, device_ids=[cfg.local_rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.optimizer.zero_grad()
        out = self.model(x)
        loss = self.criterion(out, y)
        loss.backward()
        self.optimizer.step()
        return loss.item()
