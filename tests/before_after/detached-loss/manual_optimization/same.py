import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class Optimized(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class Manual(Optimized):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = F.mse_loss(self(batch[0]), batch[1])
        self.manual_backward(loss)
        self.optimizers().step()
        return loss.detach()


class ByProperty(Optimized):
    @property
    def automatic_optimization(self):
        return False

    def training_step(self, batch, batch_idx):
        return self.update(batch).detach()


class ByHelper(Optimized):
    """Who sets the flag is not in sight; but somebody steps by hand."""

    def update(self, batch):
        loss = F.mse_loss(self(batch[0]), batch[1])
        loss.backward()
        return loss

    def training_step(self, batch, batch_idx):
        loss = self.update(batch)
        return {"loss": loss.detach()}


class Chosen(Optimized):
    def __init__(self, manual):
        super().__init__()
        self.automatic_optimization = not manual

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self(batch[0]), batch[1]).detach()


class Parent(Optimized):
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self(batch[0]), batch[1]).detach()


class Child(Parent):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False


class Plain(torch.nn.Module):
    def training_step(self, batch):
        return F.mse_loss(self(batch[0]), batch[1]).detach()


class Automatic(Optimized):
    def training_step(self, batch, batch_idx):
        loss, extra = self.loss(batch)

        def logged():
            return loss.detach()

        self.log_dict({"loss": loss.detach(), "extra": extra.item()})
        return {"loss": loss, "extra": extra.detach()}


class ItsAgentHasTheOptimizer(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.agent.update(batch).detach()

    def configure_optimizers(self):
        return None
