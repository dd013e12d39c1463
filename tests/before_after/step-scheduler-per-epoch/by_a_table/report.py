import lightning.pytorch as pl
import torch
from transformers import get_cosine_schedule_with_warmup, get_linear_schedule_with_warmup

SCHEDULES = {"linear": get_linear_schedule_with_warmup, "cosine": get_cosine_schedule_with_warmup}


class Model(pl.LightningModule):
    def __init__(self, schedule):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).square().mean()

    def scheduler_of(self, optimizer):
        maker = SCHEDULES[self.hparams.schedule]
        return maker(optimizer, num_warmup_steps=10, num_training_steps=self.trainer.max_steps)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": self.scheduler_of(optimizer), "name": "rate"}}
