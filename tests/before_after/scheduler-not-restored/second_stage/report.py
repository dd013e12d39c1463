import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def network():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))


def run(model, optimizer, scheduler, batches, epochs):
    for epoch in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()


def stage_one(batches, epochs=60):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    run(model, optimizer, CosineAnnealingLR(optimizer, epochs), batches, epochs)
    torch.save({"model": model.state_dict(), "moments": optimizer.state_dict()}, "stage1.pt")


def stage_two(batches, epochs=10, lr=5e-5):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    saved = torch.load("stage1.pt", weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["moments"])
    for group in optimizer.param_groups:
        group["lr"] = group["initial_lr"] = lr
    run(model, optimizer, CosineAnnealingLR(optimizer, T_max=epochs, eta_min=1e-6), batches, epochs)
    torch.save(model.state_dict(), "stage2.pt")


if __name__ == "__main__":
    from data import coarse, fine

    if sys.argv[1] == "1":
        stage_one(coarse())
    else:
        stage_two(fine())
