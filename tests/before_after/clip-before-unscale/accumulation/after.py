import torch
from torch.cuda.amp import GradScaler, autocast


def train(model, optimizer, loader, criterion, accumulate=4, max_norm=1.0):
    scaler = GradScaler()
    for step, (inputs, targets) in enumerate(loader):
        with autocast():
            loss = criterion(model(inputs), targets) / accumulate
        scaler.scale(loss).backward()

        if (step + 1) % accumulate == 0:
            # keep the norm in bounds
            scaler.unscale_(optimizer)
            grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            print(f"norm {grad_norm:.3f}")
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
