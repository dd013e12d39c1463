import lightning as L
import torch


class Splat(L.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx, *args, **kwargs):
        loss = self(batch).mean()
        torch.autograd.backward(loss, **kwargs)  # may hide grad_tensors
        torch.autograd.backward(*args)
