import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Base(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Manual(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self(batch[0]), batch[1])


class SwitchedOn(Base):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        x, y = batch
        target = self.ema(x)
        with torch.enable_grad():
            loss = F.mse_loss(self(x), target)
        return loss


class SwitchedOnInAHelper(Base):
    @torch.enable_grad()
    def compute(self, batch):
        return F.mse_loss(self(batch[0]), batch[1])

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return self.compute(batch)


class Collecting(Base):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        self.memory_bank.append(self(batch))

    def on_train_end(self):
        pass


class CollectingWithADummy(Base):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        self.memory_bank.append(self(batch))
        return torch.tensor(0.0, requires_grad=True)


class WithoutOptimizer(pl.LightningModule):
    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return None


class FrozenBackbone(Base):
    @torch.no_grad()
    def features(self, x):
        return self.backbone(x)

    @torch.no_grad()
    def forward(self, x):
        return self.head(self.features(x))

    @torch.no_grad()
    def target(self, x):
        return self.teacher(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.head(self.features(x))
        with torch.no_grad():
            soft = self.target(x)
        if batch_idx == 0:
            self.log("confidence", self(x).mean())
        loss = F.cross_entropy(logits, y) + F.mse_loss(logits, self.target(x)) + F.mse_loss(self.target(x), logits)
        return loss + F.kl_div(logits, soft)


class Plain(torch.nn.Module):
    @torch.no_grad()
    def training_step(self, batch):
        return F.mse_loss(self(batch[0]), batch[1])


class Evaluating(Base):
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self(batch[0]), batch[1])

    @torch.no_grad()
    def validation_step(self, batch, batch_idx):
        return self.training_step(batch, batch_idx)
