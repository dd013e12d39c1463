import torch


def train(model, optimizer, batches, follow):
    scaler = torch.amp.GradScaler("cuda")
    bound = torch.full((), 1.0, device="cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), bound)
        scaler.step(optimizer)
        scaler.update()
        bound.fill_(follow)
