import math

import lightning.pytorch as pl


class WarmUp(pl.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        # a cosine over 500 steps
        if self.trainer.global_step < 500:
            scale = min(1.0, float(self.trainer.global_step + 1) / 500.0)
            for group in optimizer.param_groups:
                group["lr"] = math.sin(scale * math.pi / 2) * self.hparams.learning_rate
            self.log("scale", scale)
        optimizer.step()  # then the step
        optimizer.zero_grad()


class Branches(pl.LightningModule):
    def optimizer_step(self, epoch, batch_idx, optimizer, closure):
        if batch_idx % 2 == 0:
            # first the gradients
            closure()
            # then the step
            optimizer.step()
        else:
            closure()
