import torch
from torch.nn.utils import clip_grad_norm_


def train(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        clip_grad_norm_(critic.parameters(), 1.0)
        optimizer_c.step()
        scaler.step(optimizer_g)
        scaler.update()
