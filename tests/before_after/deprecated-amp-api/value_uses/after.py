# fixer: unsafe target=torch==2.5
import contextlib
from functools import partial

import torch


def train(model, loader, optimizer, args):
    cm = partial(torch.amp.autocast, "cuda") if args.amp else contextlib.nullcontext
    make_scaler = partial(torch.amp.GradScaler, "cuda")
    scaler = make_scaler(args.init_scale)
    half = partial(torch.amp.autocast, "cuda", dtype=torch.float16)
    for x in loader:
        with cm():
            loss = model(x)
        with half(enabled=args.amp), (partial(torch.amp.autocast, "cuda") if args.amp else contextlib.nullcontext)():
            loss = loss + model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
