import lightning.pytorch as pl
import torch


class Classifier(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.binary_cross_entropy_with_logits(input=self.net(x), target=y, reduction="sum")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(module, data):
    pl.Trainer(precision="16-mixed").fit(module, data)
