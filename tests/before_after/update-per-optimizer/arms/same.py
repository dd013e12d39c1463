import torch


def train(model, opt_a, opt_b, loader, warm_up):
    scaler = torch.amp.GradScaler("cuda")
    for step, inputs in enumerate(loader):
        scaler.scale(model(inputs).mean()).backward()
        if step < warm_up:
            scaler.step(opt_a)
            scaler.update()
        else:
            scaler.step(opt_b)
            scaler.update()


def alternating(model, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for step, inputs in enumerate(loader):
        scaler.scale(model(inputs).mean()).backward()
        even = step % 2 == 0
        if even:
            scaler.step(opt_a)
            scaler.update()
        if not even:
            scaler.step(opt_b)
            scaler.update()


def sometimes(model, opt_a, opt_b, loader, train_a, train_b):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        if train_a:
            scaler.step(opt_a)
            scaler.update()
        if train_b:
            scaler.step(opt_b)
            scaler.update()


def leaves(model, opt_a, opt_b, loader, first):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        if first:
            scaler.step(opt_a)
            scaler.update()
            continue
        scaler.step(opt_b)
        scaler.update()


def after_the_loop(model, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
    scaler.step(opt_b)
    scaler.update()


def flag_changes(model, opt_a, opt_b, loader, first):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        if first:
            scaler.step(opt_a)
            scaler.update()
        first = not first
        if first:
            scaler.step(opt_b)
            scaler.update()


def under_flag(model, head, opt_a, opt_b, loader, use_amp):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        loss = model(inputs).mean()
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(opt_a)
            scaler.update()
        else:
            loss.backward()
            opt_a.step()
        loss = head(inputs).mean()
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(opt_b)
            scaler.update()
        else:
            loss.backward()
            opt_b.step()
