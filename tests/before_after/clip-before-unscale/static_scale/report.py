import torch
import torch.nn as nn
import torch.nn.functional as F


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def fit(loader, steps=1000):
    model = Regressor().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda", init_scale=4096.0, growth_interval=10_000_000)
    done = 0
    while done < steps:
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.smooth_l1_loss(model(x.cuda()), y.cuda())
            scaler.scale(loss).backward()
            nn.utils.clip_grad_value_(model.parameters(), 2048.0)
            scaler.step(optimizer)
            scaler.update()
            done += 1
    return model
