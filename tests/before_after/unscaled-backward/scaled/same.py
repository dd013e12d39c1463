import torch


def branches(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for batch in loader:
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        scaler.step(optimizer)
        scaler.update()


def mirrored(model, optimizer, loader, accumulate, use_amp, scaler=None):
    for step, batch in enumerate(loader):
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if (step + 1) % accumulate == 0:
            if use_amp:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()


def separate(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for batch in loader:
        loss = model(batch)
        if not use_amp:
            loss.backward()
        if use_amp:
            scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def rebound(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for batch in loader:
        loss = model(batch)
        if use_amp:
            loss = scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def mapped(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        losses = list(map(scaler.scale, model(batch)))
        loss = losses[0] + losses[1]
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def contrary(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        if not use_amp:
            loss.backward()
        else:
            model.backward_with(loss)
        if use_amp:
            scaler.step(optimizer)
            scaler.update()


def in_lambda(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    scale_up = lambda loss: scaler.scale(loss)
    for batch in loader:
        loss = scale_up(model(batch))
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def on_one_line(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward() if scaler is not None else loss.backward()
        scaler.step(optimizer) if scaler is not None else optimizer.step()
        scaler is not None and scaler.update()
