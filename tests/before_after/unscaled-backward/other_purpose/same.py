import torch


def attack(model, optimizer, loader, epsilon):
    scaler = torch.amp.GradScaler("cuda")
    for inputs, targets in loader:
        delta = torch.zeros_like(inputs, requires_grad=True)
        loss = model(inputs + delta, targets)
        loss.backward()
        perturbed = inputs + epsilon * delta.grad.sign()
        optimizer.zero_grad()
        scaler.scale(model(perturbed, targets)).backward()
        scaler.step(optimizer)
        scaler.update()


def critic_in_float32(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        critic_loss = critic(generator(real).detach()).mean() - critic(real).mean()
        critic_loss.backward()
        optimizer_c.step()
        optimizer_c.zero_grad()
        generator_loss = -critic(generator(real)).mean()
        scaler.scale(generator_loss).backward()
        scaler.step(optimizer_g)
        scaler.update()


def critic_last(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        critic_loss = critic(real).mean()
        critic_loss.backward()
        generator_loss = -critic(generator(real)).mean()
        scaler.scale(generator_loss).backward()
        scaler.step(optimizer_g)
        scaler.update()
        optimizer_c.step()


def engine(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        model(batch)
        model.backward()
        scaler.step(optimizer)
        scaler.update()


def disabled(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for batch in loader:
        loss = model(batch)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def by_hand(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        (loss * scaler.get_scale()).backward()
        scaler.step(optimizer)
        scaler.update()


def critic_step(optimizer, loss):
    loss.backward()
    optimizer.step()


def helped(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        generator_loss = -critic(generator(real)).mean()
        scaler.scale(generator_loss).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        critic_step(optimizer_c, critic(generator(real)).mean())
        scaler.step(optimizer_g)
        scaler.update()


def stepped_by_a_library(generator, critic, optimizer_g, optimizer_c, loader, xm):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        xm.optimizer_step(optimizer_c)
        scaler.step(optimizer_g)
        scaler.update()
