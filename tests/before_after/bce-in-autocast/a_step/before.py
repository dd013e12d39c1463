import lightning.pytorch as pl
import torch
from torch.nn.functional import binary_cross_entropy


class Classifier(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        return binary_cross_entropy(input=self.net(x).sigmoid(), target=y, reduction="sum")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(module, data):
    pl.Trainer(precision="16-mixed").fit(module, data)
