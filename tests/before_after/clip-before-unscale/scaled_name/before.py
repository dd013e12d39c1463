import torch


def train(model, optimizer, loader, max_norm, accumulate):
    scaler = torch.cuda.amp.GradScaler()
    for batches in loader:
        for batch in batches:
            loss = model(batch) / accumulate
            loss = scaler.scale(loss)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
