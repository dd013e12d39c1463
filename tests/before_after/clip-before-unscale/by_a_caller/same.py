import operator

import torch


def train(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        operator.methodcaller("unscale_", optimizer)(scaler)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
