import torch


def train(model, optimizer, loader, accumulate, max_norm):
    scaler = torch.cuda.amp.GradScaler()
    pending = 0
    for batch in loader:
        scaler.scale(model(batch)).backward()
        pending += 1
        if pending == accumulate:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            pending = 0
    if pending:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
