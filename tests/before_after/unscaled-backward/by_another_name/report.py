import operator

import torch


def train(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    clip = torch.nn.utils.clip_grad_norm_
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        clip(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()


def train_with_a_caller(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        operator.methodcaller("clip_grad_norm_", model.parameters(), 0.5)(torch.nn.utils)
        scaler.step(optimizer)
        scaler.update()
