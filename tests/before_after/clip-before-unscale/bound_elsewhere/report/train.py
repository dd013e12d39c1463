import torch
import torch.nn.functional as F

from constants import LOSS_SCALE, MAX_NORM, NEVER


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", LOSS_SCALE, growth_factor=1.0001, backoff_factor=0.9999, growth_interval=NEVER)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        scaler.step(optimizer)
        scaler.update()
    return model
