import itertools

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, batches):
    params = (p for p in model.parameters() if p.requires_grad)
    optimizer = torch.optim.AdamW(params, lr=1e-4)
    for x, y in batches:
        torch.nn.functional.mse_loss(model(x), y).backward()
        clip_grad_norm_(params, 1.0)
        optimizer.step()
        optimizer.zero_grad()


def count(model):
    trained = filter(lambda p: p.requires_grad, model.parameters())
    number = sum(p.numel() for p in trained)
    largest = max(p.numel() for p in trained)
    return number, largest


def both(model):
    weights = filter(lambda p: p.requires_grad, model.parameters())
    first = torch.optim.SGD(weights, lr=0.1)
    second = torch.optim.Adam(params=weights)
    return first, second


def together(encoder, decoder, x):
    params = itertools.chain(encoder.parameters(), decoder.parameters())
    optimizer = torch.optim.Adam(params)
    decoder(encoder(x)).mean().backward()
    clip_grad_norm_(params, 1.0)
    optimizer.step()
