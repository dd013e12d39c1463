import torch
from accelerate import Accelerator


def divided(model, optimizer, loader, args):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulate)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            loss = loss / args.accumulate
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def divided_in_place(model, optimizer, loader, config):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(**batch).loss
        loss /= 4
        loss.backward()
        optimizer.step()


def divided_at_once(model, optimizer, loader, config):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        (model(**batch).loss / config["grad_accum"]).backward()
        optimizer.step()


def unseen(accelerator: Accelerator, model, optimizer, batch):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()


def several(model, optimizer, batch):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    loss, penalty = model(batch)
    torch.autograd.backward([loss, penalty])
    optimizer.step()
