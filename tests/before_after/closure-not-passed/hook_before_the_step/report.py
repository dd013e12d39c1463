import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def centralize(optimizer, args, kwargs):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None and p.dim() > 1:
                p.grad.sub_(p.grad.mean(dim=1, keepdim=True))


class Centralized(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        optimizer_closure()
        optimizer.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        optimizer.register_step_pre_hook(centralize)
        return optimizer


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(256, 16), torch.randint(4, (256,))), batch_size=32)
    model = Centralized()
    L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False).fit(model, loader)
    print(sum(p.double().sum() for p in model.parameters()).item())
