import torch


def train(model, optimizer, loader, accumulate, use_amp):
    scaler = torch.cuda.amp.GradScaler() if use_amp else None
    for step, batch in enumerate(loader):
        loss = model(batch) / accumulate
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if (step + 1) % accumulate == 0:
            if use_amp: scaler.step(optimizer); scaler.update()
            else: optimizer.step()
            optimizer.zero_grad()
