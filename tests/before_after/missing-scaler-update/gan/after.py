from torch.cuda.amp import GradScaler


class Trainer:
    def __init__(self, generator, critic, optim_g, optim_c, use_amp):
        self.generator, self.critic = generator, critic
        self.optim_g, self.optim_c = optim_g, optim_c
        self.scaler = GradScaler(enabled=use_amp)

    def step(self, real, noise, train_generator):
        self.optim_c.zero_grad()
        loss_c = self.critic(self.generator(noise).detach()).mean() - self.critic(real).mean()
        self.scaler.scale(loss_c).backward()
        self.scaler.step(self.optim_c)
        if train_generator:
            self.optim_g.zero_grad()
            loss_g = -self.critic(self.generator(noise)).mean()
            self.scaler.scale(loss_g).backward()
            self.scaler.step(self.optim_g)
        self.scaler.update()
        return loss_c
