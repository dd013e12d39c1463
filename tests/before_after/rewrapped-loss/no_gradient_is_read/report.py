import lightning as L
import torch


class Climb(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
        self.best = None

    @torch.no_grad()
    def step(self, closure):
        value = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                weight.add_(torch.randn_like(weight), alpha=0.01 if self.best is None else 0.1)
        self.best = value


class Search(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        error = ((self.net(x) > 0).float() != y).float().mean()
        return torch.tensor(error.item(), requires_grad=True)

    def configure_optimizers(self):
        return Climb(self.parameters())
