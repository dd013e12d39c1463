import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def by_mode(model, optimizer, scaler: torch.amp.GradScaler, loader, mode):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        if mode == "norm":
            clip_grad_norm_(model.parameters(), 1.0)
        elif mode == "value":
            clip_grad_value_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()


def first_conditional(model, head, optimizer, scaler: torch.amp.GradScaler, loader, clip_head):
    for batch in loader:
        scaler.scale(head(model(batch))).backward()
        if clip_head:
            clip_grad_norm_(head.parameters(), 0.1)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
