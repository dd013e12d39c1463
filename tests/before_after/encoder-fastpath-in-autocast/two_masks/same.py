# fixer: target=torch==2.13.0
import torch
import torch.nn.functional as F
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab=500, width=64, tags=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(width, 4, dim_feedforward=128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.out = nn.Linear(width, tags)

    def forward(self, ids):
        causal = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        h = self.encoder(self.embed(ids), mask=causal, src_key_padding_mask=(ids == 0).float() * -1e4)
        return self.out(h)


def batch():
    ids = torch.randint(1, 500, (8, 20))
    ids[:4, 15:] = 0
    return ids, torch.randint(0, 9, (8, 20))


def evaluate(model):
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        ids, tags = batch()
        return (model(ids).argmax(-1) == tags).float().mean().item()


def train(steps=20):
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        model.train()
        ids, tags = batch()
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(ids).transpose(1, 2), tags)
        loss.backward()
        optimizer.step()
    print(loss.item(), evaluate(model))


if __name__ == "__main__":
    train()
