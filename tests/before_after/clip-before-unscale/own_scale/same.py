"""Clips that know of the scale."""

import torch
from torch.nn.utils import clip_grad_norm_


def bound_times_scale(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        s = scaler.get_scale()
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 0.5 * s)
        scaler.step(optimizer)
        scaler.update()


def bound_kept(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scale = scaler.get_scale()
        bound = 0.5 * scale
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(parameters=model.parameters(), max_norm=bound)
        scaler.step(optimizer)
        scaler.update()


def norm_for_the_log(model, optimizer, loader, log):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        norm = clip_grad_norm_(model.parameters(), float("inf"))
        log(norm / scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()


def norm_divided_at_once(model, optimizer, loader, log):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scale = scaler.get_scale()
        norm = clip_grad_norm_(model.parameters(), float("inf")) / scale
        log(norm)
        scaler.step(optimizer)
        scaler.update()


def norm_times_inverse(model, optimizer, loader, log):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        inverse = 1.0 / scaler.get_scale()
        norm = clip_grad_norm_(model.parameters(), float("inf"))
        log({"norm": norm * inverse})
        scaler.step(optimizer)
        scaler.update()
