import torch


def train(models, optimizer, scaler: torch.amp.GradScaler, loader, max_norm):
    for batch in loader:
        optimizer.zero_grad()
        loss = sum(model(batch) for model in models)
        scaler.scale(loss).backward()
        # one clip for each model
        scaler.unscale_(optimizer)
        for model in models:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
