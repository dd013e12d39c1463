import torch


def train(critic, generator, optimizer_c, optimizer_g, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(critic(generator(real)).mean()).backward()
        for _ in range(1):
            scaler.step(optimizer_c)
        scaler.step(optimizer_g)
