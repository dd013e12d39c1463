import lightning as L
import torch


class Adversarial(L.LightningModule):
    def __init__(self, generator, critic):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = generator, critic

    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        fake = self.generator(batch)
        first.zero_grad()
        self.manual_backward(-self.critic(fake).mean())
        first.step()
        second.zero_grad()
        self.manual_backward(self.critic(fake.detach()).mean() - self.critic(batch).mean())
        second.optimizer.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters()), torch.optim.Adam(self.critic.parameters())


L.Trainer(precision="32-true")
