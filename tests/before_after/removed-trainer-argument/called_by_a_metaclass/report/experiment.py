import pytorch_lightning as pl
import torch
from torch import nn

from seqlab import Trainer


class Tagger(pl.LightningModule):
    def __init__(self, vocab=100, tags=5):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(vocab, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, tags)

    def training_step(self, batch, batch_idx):
        ids, tags = batch
        return nn.functional.cross_entropy(self.out(self.rnn(self.emb(ids))[0]).flatten(0, 1), tags.flatten())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def main():
    data = torch.utils.data.TensorDataset(torch.randint(0, 100, (64, 7)), torch.randint(0, 5, (64, 7)))
    trainer = Trainer(accelerator="cpu", max_epochs=1, logger=False, checkpoint_callback=False, replace_sampler_ddp=True)
    trainer.fit(Tagger(), torch.utils.data.DataLoader(data, batch_size=8))


if __name__ == "__main__":
    main()
