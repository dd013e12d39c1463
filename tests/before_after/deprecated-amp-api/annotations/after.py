# fixer: target=torch==2.5
from typing import Optional

import torch


def step(loss: torch.Tensor, optimizer, scaler: Optional[torch.amp.GradScaler] = None) -> None:
    scaler = scaler or torch.amp.GradScaler("cuda")
    scaler.scale(loss).backward()
    scaler.step(optimizer)


class Engine:
    scaler: torch.amp.GradScaler | None = None
