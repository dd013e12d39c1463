import torch


def train(model, optimizer, loader, accumulate):
    scaler = torch.amp.GradScaler("cuda")
    for step, batch in enumerate(loader):
        scaler.scale(model(batch)).backward()
        if (step + 1) % accumulate == 0:
            scaler.step(optimizer)
            optimizer.zero_grad()
            scaler.update(new_scale=None)


def once_for_both(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(critic(real).mean()).backward()
        scaler.step(optimizer_c)
        scaler.scale(-critic(generator(real)).mean()).backward()
        scaler.step(optimizer_g)
        scaler.update()


def one_step(model, optimizer, batch):
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(model(batch)).backward()
    scaler.step(optimizer)


def made_anew(model, optimizer, loader):
    for batch in loader:
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)


def disabled(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)


def one_step_each(models, optimizers, batch):
    scaler = torch.amp.GradScaler("cuda")
    for model, optimizer in zip(models, optimizers):
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
