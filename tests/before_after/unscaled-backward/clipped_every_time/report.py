import torch


def train(model, optimizer, loader, accumulate):
    scaler = torch.amp.GradScaler("cuda")
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        if (step + 1) % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
