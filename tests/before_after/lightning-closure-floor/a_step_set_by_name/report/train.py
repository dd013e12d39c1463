import pytorch_lightning as pl
import torch
from transformers import AutoModelForSequenceClassification
from transformers.optimization import Adafactor

from base import Base


class Classifier(Base):
    def __init__(self, name):
        super().__init__()
        self.net = AutoModelForSequenceClassification.from_pretrained(name)

    def training_step(self, batch, batch_idx):
        return self.net(**batch).loss

    def configure_optimizers(self):
        return Adafactor(self.parameters(), lr=1e-3, relative_step=False, scale_parameter=False)


def main(name, batches):
    trainer = pl.Trainer(max_epochs=1, accelerator="gpu", devices=1)
    trainer.fit(Classifier(name), torch.utils.data.DataLoader(batches, batch_size=None))
