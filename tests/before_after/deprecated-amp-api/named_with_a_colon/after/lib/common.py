import torch
from torch.cuda.amp import autocast


def forward(model, x):
    with torch.amp.autocast("cuda"):
        return model(x).to(torch.float32)
