import torch


def train_gan(generator, critic, opt_g, opt_d, loader):
    scaler = torch.amp.GradScaler("cuda")
    for noise, real in loader:
        fake = generator(noise)
        opt_d.zero_grad()
        scaler.scale(critic(fake.detach()).mean() - critic(real).mean()).backward()
        scaler.step(opt_d)
        scaler.update()
        opt_g.zero_grad()
        scaler.scale(-critic(fake).mean()).backward()
        scaler.step(opt_g)
        scaler.update()


def train_each(models, optimizers, loader, criterion):
    scaler = torch.amp.GradScaler("cuda")
    for inputs, targets in loader:
        for model, optimizer in zip(models, optimizers):
            optimizer.zero_grad()
            scaler.scale(criterion(model(inputs), targets)).backward()
            scaler.step(optimizer)
            scaler.update()


def by_hand(model, head, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaled = scaler.scale(head(inputs).mean())
        torch.autograd.backward(scaled)
        scaler.step(opt_b)
        scaler.update()


def other_gradients(model, head, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        for p, g in zip(head.parameters(), torch.autograd.grad(scaler.scale(head(inputs).mean()), head.parameters())):
            p.grad = g
        scaler.step(opt_b)
        scaler.update()
