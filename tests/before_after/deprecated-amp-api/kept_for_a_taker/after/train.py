import torch
from torch.cuda.amp import autocast

model = torch.nn.Linear(4, 4)


def step(batch):
    with torch.amp.autocast("cuda", enabled=batch.is_cuda, dtype=torch.bfloat16):
        return model(batch).sum()
