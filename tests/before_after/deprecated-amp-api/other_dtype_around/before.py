import torch
from torch.cuda.amp import autocast


class Attention(torch.nn.Module):
    def forward(self, q, k):
        with autocast():
            scores = q @ k
        with autocast(enabled=False):
            scores = scores.float().softmax(-1)
        with autocast(dtype=torch.float32):
            return scores @ k


def train_step(model, batch):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return model(batch)
