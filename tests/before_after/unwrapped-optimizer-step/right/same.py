import lightning as L
import torch


class Manual(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.linear = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.linear(batch).mean())
        optimizer.optimizer.param_groups[0]["lr"] *= 0.9
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Automatic(L.LightningModule):
    def __init__(self, agent):
        super().__init__()
        self.agent = agent

    def training_step(self, batch, batch_idx):
        self.agent.optimizer.step()
        return self.agent(batch).mean()

    def warm_up(self):
        self.optimizers().optimizer.step()
