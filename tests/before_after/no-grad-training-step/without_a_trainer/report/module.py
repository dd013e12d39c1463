import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Probe(pl.LightningModule):
    def __init__(self, epsilon=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Linear(4, 1, bias=False)

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        w, epsilon = self.net.weight, self.hparams.epsilon
        losses = []
        for sign in (1, -2, 1):
            w.add_(sign * epsilon)
            losses.append(F.mse_loss(self.net(x), y))
        w.grad = torch.ones_like(w) * (losses[0] - losses[1]) / (2 * epsilon)
        return losses[-1]

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
