from torch import GradScaler


def train(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = GradScaler("cuda")
    for real in loader:
        scaler.scale(critic(real).mean()).backward()
        scaler.step(optimizer_c)

        scaler.scale(-critic(generator(real)).mean()).backward()
        scaler.step(optimizer_g)
        scaler.update()

        optimizer_c.zero_grad()
        optimizer_g.zero_grad()
