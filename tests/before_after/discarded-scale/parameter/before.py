# fixer: unsafe
import torch
import torch.nn as nn


def train_one_epoch(loader, model, criterion, optimizer, scaler, args):
    losses = []
    for images, targets in loader:
        optimizer.zero_grad()

        if args.mixed_precision:
            with torch.cuda.amp.autocast():
                loss = criterion(model(images), targets)
        else:
            loss = criterion(model(images), targets)

        if args.mixed_precision:
            scaler.scale(loss)
            loss.backward()

            if args.clip:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)

            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()

            if args.clip:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)

            optimizer.step()
        losses.append(loss.item())
    return losses
