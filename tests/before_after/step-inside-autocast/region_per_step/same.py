import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, optimizer, scaler, scheduler, device_type="cuda"):
    for x, y in batches:
        with torch.autocast(device_type, dtype=torch.float16):
            loss = F.mse_loss(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()


def accumulate(model, batches, optimizer, device_type="cuda", every=4):
    for number, (x, y) in enumerate(batches):
        with torch.autocast(device_type):
            loss = F.mse_loss(model(x), y) / every
        loss.backward()
        if number % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def no_cache(model, batches, optimizer, device_type="cuda"):
    with torch.autocast(device_type, cache_enabled=False):
        for x, y in batches:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


def cleared(model, batches, optimizer, device_type="cuda"):
    with torch.autocast(device_type):
        for x, y in batches:
            torch.clear_autocast_cache()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


def passes_of_their_own(model, batches, optimizer, device_type="cuda"):
    for x, y in batches:
        with torch.autocast(device_type):
            loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        with torch.autocast(device_type), torch.no_grad():
            print(F.mse_loss(model(x), y))
