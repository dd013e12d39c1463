import lightning as L
import torch
import torch.nn.functional as F


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)

    def training_step(self, x, batch_idx):
        opt_g, opt_c = self.optimizers()
        loss_c = F.softplus(self.critic(self.generator(x).detach())).mean()
        opt_c.zero_grad()
        self.manual_backward(loss_c)
        opt_c.step()
        loss_g = -self.critic(self.generator(x)).mean()
        opt_g.zero_grad()
        self.manual_backward(loss_g)
        opt_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters()), torch.optim.Adam(self.critic.parameters())
