import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        loss.backward()
        if use_amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()


def accumulate(model, optimizer, loader, every, scaler: torch.amp.GradScaler = None):
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        if step % every == 0 and scaler is not None:
            scaler.step(optimizer)
            scaler.update()
