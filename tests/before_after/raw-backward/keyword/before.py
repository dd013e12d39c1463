import lightning as L
import torch


class Keyword(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch)
        loss.backward(gradient=torch.ones_like(loss), create_graph=True)
        torch.autograd.backward(grad_tensors=torch.ones_like(loss), tensors=loss, inputs=list(self.parameters()))
        self.optimizers().step()
