import pytorch_lightning as pl

FLAGS = {"automatic_optimization": False, "strict_loading": True}


class LabModule(pl.LightningModule):
    def __init__(self):
        super().__init__()
        for name, value in FLAGS.items():
            if hasattr(type(self), name):
                setattr(self, name, value)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = self.loss(batch)
        self.manual_backward(loss)
        optimizer.step()
        return loss
