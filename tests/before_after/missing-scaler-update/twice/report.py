import torch


def train(critic, optimizer, loader, every):
    scaler = torch.amp.GradScaler("cuda")
    for index, real in enumerate(loader):
        optimizer.zero_grad()
        scaler.scale(critic(real).mean()).backward()
        scaler.step(optimizer)
        if index % every == 0:
            optimizer.zero_grad()
            scaler.scale(critic.penalty(real)).backward()
            scaler.step(optimizer)
