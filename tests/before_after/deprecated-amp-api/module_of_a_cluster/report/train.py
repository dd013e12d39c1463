import torch
from functions import StraightThrough
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def main():
    net = nn.Linear(16, 16).cuda()
    optimizer, scaler = torch.optim.Adam(net.parameters()), GradScaler()
    for _ in range(500):
        x = torch.randn(8, 16, device="cuda")
        with autocast():
            loss = (StraightThrough.apply(net(x), 15) - x).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
