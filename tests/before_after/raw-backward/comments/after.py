import lightning.pytorch as pl
import torch


class Commented(pl.LightningModule):
    """No comment is lost."""

    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        loss = self(batch).mean()
        penalty = self(batch).norm()
        # of the weights
        self.manual_backward(loss  # of the task
            + penalty, retain_graph=True)  # both
        # why this one
        # and what for
        self.manual_backward(
            loss * 2,
            retain_graph=True  # needed below
        )
        # over everything
        # and back
        (
            self.manual_backward(self(batch)  # once more
            .mean())
        )
        self.manual_backward(  # with nothing
        loss)
        self.manual_backward(
            # the loss
            loss,  # alone
            # its weight
            torch.ones_like(loss),  # one
        )
        # by name
        self.manual_backward(loss)
        opt.step()
