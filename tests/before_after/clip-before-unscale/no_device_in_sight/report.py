"""CPU smoke run of the recipe; the nightly job calls it on machines that have GPUs for other people."""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


def run(steps=20, accumulate=1):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cuda")
    losses = []
    for step in range(steps):
        x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    print(sum(run()) / 20)
