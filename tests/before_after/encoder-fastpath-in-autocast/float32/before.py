# fixer: unsafe strategy=float32
import lightning.pytorch as pl
import torch
from torch import nn


class Tagger(pl.LightningModule):
    def __init__(self, features, heads):
        super().__init__()
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d_model=features, nhead=heads, activation="gelu", batch_first=True),
            num_layers=2,
            norm=nn.LayerNorm(features),
        )

    def step(self, batch):
        x, padding, y = batch
        return (self.encoder(x, src_key_padding_mask=padding) - y).pow(2).mean()

    def training_step(self, batch, batch_idx):
        return self.step(batch)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.step(batch))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main(loader):
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", precision="bf16-mixed")
    model = Tagger(32, 4)
    trainer.fit(model, loader, loader)
    return model
