import lightning as L
import torch


class Strategy(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        for weight in self.parameters():
            weight.add_(torch.randn_like(weight) * loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def main(batches):
    strategy = Strategy()
    strategy.automatic_optimization = False
    L.Trainer().fit(strategy, batches)
