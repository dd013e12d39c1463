import torch
from torch.cuda.amp import autocast

model = torch.nn.Linear(4, 4)


def step(batch):
    with autocast(enabled=batch.is_cuda, dtype=torch.bfloat16):
        return model(batch).sum()
