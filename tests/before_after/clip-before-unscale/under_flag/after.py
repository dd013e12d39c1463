import torch
from torch.amp import GradScaler


def train(model, optimizer, loader, device, fp16, accumulate, max_norm):
    scaler = GradScaler(device, init_scale=1024) if fp16 else None
    for step, batch in enumerate(loader):
        loss = model(batch) / accumulate
        if scaler is not None:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if (step + 1) % accumulate == 0:
            if scaler is not None:
                scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            if scaler is not None:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            optimizer.zero_grad()
