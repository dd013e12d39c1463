import torch
from accelerate import Accelerator
from torch.amp import GradScaler


def device_only(model, optimizer, loader):
    """`torch.accelerator` is another thing."""
    device = torch.accelerator.current_accelerator()
    for batch in loader:
        loss = model(batch.to(device)).mean()
        loss.backward()
        optimizer.step()


def with_or_without(model, optimizer, loader, args):
    accelerator = Accelerator() if args.accelerate else None
    if accelerator is not None:
        model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        if accelerator is not None:
            accelerator.backward(loss)
        else:
            loss.backward()
        optimizer.step()


def by_flag(model, optimizer, loader, use_accelerate: bool):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        if use_accelerate:
            accelerator.backward(loss)
            optimizer.step()
            continue
        elif batch:
            loss.backward()
        optimizer.step()


def optional(model, optimizer, batch, accelerator: Accelerator = None):
    model, optimizer = accelerator.prepare(model, optimizer)
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()


def unprepared(model, loader):
    accelerator = Accelerator()
    loader = accelerator.prepare(loader)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def own_scaler(model, optimizer, loader):
    accelerator, scaler = Accelerator(), GradScaler("cuda")
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)


class Engine:
    def __init__(self, accelerator=None):
        self.accelerator = None
        if accelerator:
            self.accelerator = Accelerator()

    def step(self, batch):
        self.model, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)
        loss = self.model(batch).mean()
        loss.backward()
        self.optimizer.step()


def step_model(model, batch, target, accelerator: Accelerator, do_backward=True):
    """Both ways, by hand."""
    model = accelerator.prepare(model)
    loss = torch.nn.functional.mse_loss(model(batch), target)
    if not do_backward:
        loss.backward()
    else:
        accelerator.backward(loss)
