# fixer: target=torch==2.5
from typing import Optional

import torch
from torch.cuda.amp import GradScaler


def step(loss: torch.Tensor, optimizer, scaler: Optional[GradScaler] = None) -> None:
    scaler = scaler or GradScaler()
    scaler.scale(loss).backward()
    scaler.step(optimizer)


class Engine:
    scaler: torch.cuda.amp.GradScaler | None = None
