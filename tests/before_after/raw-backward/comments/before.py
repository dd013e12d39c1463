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
        (
            loss  # of the task
            + penalty  # of the weights
        ).backward(retain_graph=True)  # both
        (  # why this one
            loss * 2
            # and what for
        ).backward(
            retain_graph=True  # needed below
        )
        (
            self(batch)  # once more
            .mean()  # over everything
            # and back
            .backward()
        )
        loss.backward(  # with nothing
        )
        torch.autograd.backward(
            # the loss
            [loss],  # alone
            # its weight
            [torch.ones_like(loss)],  # one
        )
        torch.autograd.backward(
            tensors=(
                loss  # by name
            ),
        )
        opt.step()
