import torch
from library import run_hooks


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        run_hooks(optimizer, scaler)


def finish(s):
    s.update()


def train_with_helper(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        finish(scaler)


def train_with_state(model, optimizer, loader, state):
    scaler = torch.amp.GradScaler("cuda")
    state.update(scaler=scaler)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)


def train_with_closure(model, optimizer, loader, callbacks):
    scaler = torch.amp.GradScaler("cuda")
    callbacks.append(lambda: scaler.update())
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)


def train_with_update(model, optimizer, loader, callbacks):
    scaler = torch.amp.GradScaler("cuda")
    callbacks.append(scaler.update)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
