# fixer: unsafe target=torch==2.5
import contextlib
from functools import partial

import torch
from torch.cuda.amp import GradScaler, autocast


def train(model, loader, optimizer, args):
    cm = autocast if args.amp else contextlib.nullcontext
    make_scaler = GradScaler
    scaler = make_scaler(args.init_scale)
    half = partial(torch.cuda.amp.autocast, dtype=torch.float16)
    for x in loader:
        with cm():
            loss = model(x)
        with half(enabled=args.amp), (autocast if args.amp else contextlib.nullcontext)():
            loss = loss + model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
