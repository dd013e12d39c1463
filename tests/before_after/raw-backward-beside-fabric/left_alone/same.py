import torch
from lightning.fabric import Fabric


def optional(model, optimizer, loader, precision=None):
    fabric = Fabric(precision=precision) if precision else None
    if fabric is not None:
        model, optimizer = fabric.setup(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def either(fabric: Fabric, model, optimizer, loader, use_fabric):
    model, optimizer = fabric.setup(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        if use_fabric:
            fabric.backward(loss)
        else:
            loss.backward()
        optimizer.step()


def probe_first(fabric: Fabric, encoder, loader):
    """A plain loop of its own, before Fabric takes over."""
    probe = torch.nn.Linear(8, 1)
    probe_optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    for batch in loader:
        loss = probe(batch).mean()
        loss.backward()
        probe_optimizer.step()
    encoder = fabric.setup(encoder)
    return encoder, probe


def set_up_later(fabric: Fabric, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    model, optimizer = fabric.setup(model, optimizer)
    return model, optimizer


def two(loader, model, optimizer):
    coarse, fine = Fabric(precision="bf16-mixed"), Fabric(precision="32-true")
    model, optimizer = coarse.setup(model, optimizer)
    other = fine.setup(torch.nn.Linear(8, 1))
    loss = other(model(next(iter(loader)))).mean()
    loss.backward()
    optimizer.step()


def engine(fabric: Fabric, model, optimizer, batch):
    engine, optimizer = fabric.setup(model, optimizer)
    loss = engine(batch)
    engine.backward(loss)
    optimizer.step()
