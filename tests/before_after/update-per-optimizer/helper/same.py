import torch


class Trainer:
    def __init__(self, generator, critic, opt_g, opt_d):
        self.generator, self.critic = generator, critic
        self.opt_g, self.opt_d = opt_g, opt_d
        self.scaler = torch.amp.GradScaler("cuda")

    def backward_d(self, fake, real):
        self.scaler.scale(self.critic(fake.detach()).mean() - self.critic(real).mean()).backward()

    def backward_g(self, fake):
        self.scaler.scale(-self.critic(fake).mean()).backward()

    def optimize(self, noise, real):
        fake = self.generator(noise)
        self.opt_d.zero_grad()
        self.backward_d(fake, real)
        self.scaler.step(self.opt_d)
        self.scaler.update()
        self.opt_g.zero_grad()
        self.backward_g(fake)
        self.scaler.step(self.opt_g)
        self.scaler.update()

    def optimize_with(self, engine, losses):
        engine.run(losses[0])
        self.scaler.step(self.opt_d)
        self.scaler.update()
        engine.run(losses[1])
        self.scaler.step(self.opt_g)
        self.scaler.update()

    def optimize_each(self, engine, optimizers):
        for optimizer in optimizers:
            engine.run(optimizer)
            self.scaler.step(optimizer)
            self.scaler.update()

    def after(self):
        self.scaler.update()

    def optimize_both(self, fake, real):
        self.backward_d(fake, real)
        self.scaler.step(self.opt_d)
        self.after()
        self.scaler.step(self.opt_g)
        self.after()


def train(first, second, opt_a, opt_b, loader, backward):
    scaler = torch.amp.GradScaler("cuda")

    def differentiate(loss):
        scaler.scale(loss).backward()

    for inputs in loader:
        differentiate(first(inputs).mean())
        scaler.step(opt_a)
        scaler.update()
        differentiate(second(inputs).mean())
        scaler.step(opt_b)
        scaler.update()


def train_with(first, second, opt_a, opt_b, loader, backward):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        backward(scaler.scale(first(inputs).mean()))
        scaler.step(opt_a)
        scaler.update()
        backward(second(inputs).mean())
        scaler.step(opt_b)
        scaler.update()


class EachLoss:
    def __init__(self, optimizers):
        self.optimizers = optimizers
        self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def pairs(self, losses):
        for loss, optimizer in zip(losses, self.optimizers):
            self.scaler.scale(loss).backward()
            yield optimizer

    def train(self, losses):
        for optimizer in self.pairs(losses):
            self.scaler.step(optimizer)
            self.scaler.update()

    def train_later(self, losses):
        pairs = self.pairs(losses)
        for optimizer in pairs:
            self.scaler.step(optimizer)
            self.scaler.update()

    def train_numbered(self, losses):
        pairs = (self.backward(loss) for loss in losses)
        for number, _ in enumerate(pairs):
            self.scaler.step(self.optimizers[number])
            self.scaler.update()

    def train_two(self, losses):
        pairs = self.pairs(losses)
        first = next(pairs)
        self.scaler.step(first)
        self.scaler.update()
        second = next(pairs)
        self.scaler.step(second)
        self.scaler.update()

    async def train_async(self, backward_of):
        for optimizer in self.optimizers:
            await backward_of[optimizer]
            self.scaler.step(optimizer)
            self.scaler.update()
