import torch


def train(critic, generator, optimizer_c, optimizer_g, loader, rounds):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        for _ in range(rounds):
            scaler.scale(critic(real).mean()).backward()
            scaler.step(optimizer_c)
            optimizer_c.zero_grad()
        scaler.scale(-critic(generator(real)).mean()).backward()
        scaler.step(optimizer_g)
        optimizer_g.zero_grad()
