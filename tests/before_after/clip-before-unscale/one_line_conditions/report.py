import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward() if scaler else loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer) if scaler else optimizer.step()
        if scaler: scaler.update()
