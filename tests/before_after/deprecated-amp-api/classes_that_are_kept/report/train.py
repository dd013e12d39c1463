import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.cuda.amp import GradScaler

from checkpoint import restore, save


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.net(x)


def main(loader, path="last.pt", epochs=20):
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = GradScaler(init_scale=2.0**14)
    start = restore(path, model=model, optimizer=optimizer, scaler=scaler)
    for epoch in range(start, epochs):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(x.cuda()), y.cuda())
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        save(path, epoch + 1, model=model, optimizer=optimizer, scaler=scaler)
