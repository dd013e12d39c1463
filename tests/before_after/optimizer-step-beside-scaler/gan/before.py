# fixer: unsafe
import torch


def train(generator, critic, loader):
    optimizer_g = torch.optim.Adam(generator.parameters())
    optimizer_c = torch.optim.Adam(critic.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        optimizer_c.zero_grad()
        scaler.scale(critic(real).mean() - critic(generator(real)).mean()).backward()
        optimizer_c.step()
        optimizer_g.zero_grad()
        scaler.scale(-critic(generator(real)).mean()).backward()
        optimizer_g.step()
