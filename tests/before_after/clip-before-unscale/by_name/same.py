import torch
from torch.nn.utils import clip_grad_norm_


def named(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    unscale = scaler.unscale_
    for batch in loader:
        scaler.scale(model(batch)).backward()
        unscale(optimizer)
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def mapped(model, optimizers, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        list(map(scaler.unscale_, optimizers))
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def in_lambda(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    prepare = lambda: scaler.unscale_(optimizer)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        prepare()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def guarded(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        try:
            scaler.unscale_(optimizer)
        except RuntimeError:
            pass
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def in_closure(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:

        def closure():
            scaler.scale(model(batch)).backward()
            clip_grad_norm_(model.parameters(), 1.0)

        closure()
        scaler.step(optimizer)
        scaler.update()
