import torch
import torch.nn.functional as F
from torch import nn

LOSS_SCALE = 4096.0


def train(loader, features=40, epochs=3, device="cuda"):
    model = nn.Sequential(nn.Linear(features, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device, init_scale=LOSS_SCALE)
    skipped = 0
    for epoch in range(epochs):
        for x, y in loader:
            x = x.to(device)
            y = y.to(device)
            optimizer.zero_grad()
            with torch.autocast(device, dtype=torch.float16):
                loss = F.smooth_l1_loss(model(x).squeeze(-1), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler._per_optimizer_states.clear()
            skipped += int(not torch.isfinite(norm))
        print(epoch, loss.item(), "skipped", skipped)
    return model
