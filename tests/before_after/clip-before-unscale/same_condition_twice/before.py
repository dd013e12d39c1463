import torch


def train(model, optimizer, loader, accumulate, max_norm):
    scaler = torch.cuda.amp.GradScaler()
    for step, batch in enumerate(loader):
        scaler.scale(model(batch) / accumulate).backward()
        if step % accumulate == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        if step % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
