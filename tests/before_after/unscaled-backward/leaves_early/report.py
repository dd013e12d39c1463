import torch


def accumulate(model, optimizer, loader, every, scaler: torch.amp.GradScaler = None):
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        if not (step % every == 0 and scaler is not None):
            continue
        scaler.step(optimizer)
        scaler.update()
