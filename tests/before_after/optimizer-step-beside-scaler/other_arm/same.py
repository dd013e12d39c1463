import torch


def branches(model, optimizer, loader, use_amp, accumulate):
    scaler = torch.amp.GradScaler("cuda")
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


def early(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            continue
        loss.backward()
        optimizer.step()


def scheduled(model, optimizer, scheduler, loader):
    scaler = torch.amp.GradScaler("cuda")
    scheduler_of_optimizer = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        scheduler_of_optimizer.step()


def guarded(model, optimizer, loader, scaler=None):
    for batch in loader:
        loss = model(batch)
        if scaler is not None:
            loss = scaler.scale(loss)
        loss.backward()
        if scaler is not None:
            scaler.unscale_(optimizer)
        if not scaler is not None:
            optimizer.step()
        else:
            scaler.update()


def none_first(model, optimizer, loader, scaler=None):
    for batch in loader:
        loss = model(batch)
        if scaler is not None:
            loss = scaler.scale(loss)
        loss.backward()
        if scaler is None:
            optimizer.step()
        else:
            scaler.update()


def on_one_line(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward() if scaler is not None else loss.backward()
        scaler.step(optimizer) if scaler is not None else optimizer.step()
        scaler is not None and scaler.update()
