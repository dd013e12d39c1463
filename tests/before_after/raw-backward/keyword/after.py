import lightning as L
import torch


class Keyword(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch)
        self.manual_backward(loss, gradient=torch.ones_like(loss), create_graph=True)
        self.manual_backward(loss, gradient=torch.ones_like(loss), inputs=list(self.parameters()))
        self.optimizers().step()
