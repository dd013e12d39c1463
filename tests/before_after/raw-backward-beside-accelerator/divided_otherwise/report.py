"""Losses that are divided already, in other ways than `loss / accumulation_steps`.

Run with four accumulated batches (torch 2.13, Accelerate 1.15): the raw call moves the weights by 0.182, as does
`accelerator.backward` of the loss that nobody divided; `accelerator.backward` of the divided one by 0.0456.
"""

import torch
import torch.nn.functional as F
from accelerate import Accelerator


def multiplied(model, optimizer, loader, accumulate):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    factor = 1 / accumulate
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y) * (1 / accumulate)
            loss.backward()
            (F.mse_loss(model(x), y) * factor).backward()
            optimizer.step()


def divided_by_a_method(model, optimizer, loader, n):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y).div(n)
        loss.backward()
        loss = torch.div(F.mse_loss(model(x), y), n)
        loss.backward()
        optimizer.step()


def divided_in_place(model, optimizer, loader, n):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.div_(n)
        loss.backward()
        optimizer.step()


def by_all_tokens(model, optimizer, windows):
    """The number of tokens of all accumulated batches."""
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for window in windows:
        tokens = sum(y.numel() for _, y in window)
        for x, y in window:
            with accelerator.accumulate(model):
                loss = F.mse_loss(model(x), y, reduction="sum") / tokens
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()


def in_helper(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        with accelerator.accumulate(model):
            loss, _ = compute_loss(model, batch, 4)
            loss.backward()
            optimizer.step()


def compute_loss(model, batch, parts):
    out = model(batch[0])
    return F.mse_loss(out, batch[1]) / parts, out


def in_a_helper_out_of_sight(model, optimizer, loader, loss_of, config):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = loss_of(model, batch, config.accumulation)
        loss.backward()
        optimizer.step()
