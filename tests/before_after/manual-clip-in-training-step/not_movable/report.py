import lightning as L
import torch


class Adversarial(L.LightningModule):
    def __init__(self, generator, critic):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = generator, critic

    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        first.zero_grad()
        self.manual_backward(self.critic(self.generator(batch)).mean())
        self.clip_gradients(first, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        first.step()
        second.zero_grad()
        self.manual_backward(self.critic(batch).mean())
        self.clip_gradients(second, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        second.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters()), torch.optim.Adam(self.critic.parameters())


class Accumulating(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        opt, clip = self.optimizers(), 1.0
        self.manual_backward(self.net(batch).mean() / 4)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), clip)
        self.log("norm", norm)
        if (batch_idx + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()

    def on_before_optimizer_step(self, optimizer):
        self.log("steps", 1.0)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, fused=True)


def train(generator, critic, loader):
    trainer = L.Trainer(precision="16-mixed")
    trainer.fit(Adversarial(generator, critic), loader)
    trainer.fit(Accumulating(critic), loader)
