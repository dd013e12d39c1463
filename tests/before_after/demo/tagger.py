"""Tagging padded sequences with a TransformerEncoder."""

import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(pl.LightningModule):
    def __init__(self, vocabulary: int = 1000, tags: int = 12, width: int = 64, heads: int = 4, layers: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(d_model=width, nhead=heads, dim_feedforward=4 * width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)
        self.head = nn.Linear(width, tags)

    def forward(self, tokens):
        padding = tokens == 0
        encoded = self.encoder(self.embedding(tokens), src_key_padding_mask=padding)
        return self.head(encoded)

    def loss(self, batch):
        tokens, tags = batch
        return F.cross_entropy(self(tokens).flatten(0, 1), tags.flatten(), ignore_index=-100)

    def training_step(self, batch, batch_idx):
        return self.loss(batch)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)


def train(train_loader, val_loader):
    trainer = pl.Trainer(accelerator="cpu", max_epochs=5, precision="bf16-mixed")
    trainer.fit(Tagger(), train_loader, val_loader)
