import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from closures import lifted


class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @lifted
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.layer(batch), batch[:, :1])

    def configure_optimizers(self):
        return Sign(self.parameters())


if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=8)
    pl.Trainer(max_epochs=2).fit(Net(), loader)
