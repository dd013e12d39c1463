import torch
import torch.nn.functional as F
from torch import nn


class SentenceEncoder(nn.Module):
    def __init__(self, vocab=500, dim=48):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, tokens, *, augment=False):
        h = self.embed(tokens)
        if augment:
            h = F.dropout(h, p=0.1)
        return F.normalize(self.mlp(h), dim=-1)


def info_nce(a, b, temperature=0.05):
    logits = a @ b.t() / temperature
    return F.cross_entropy(logits, torch.arange(len(a)))


def pretrain(model, corpus, epochs=3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(epochs):
        for tokens in corpus.split(32):
            first = model(tokens, augment=True)
            second = model(tokens, augment=True)
            loss = info_nce(first, second)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def retrieve(model, queries, corpus, k=5):
    model.eval()
    return (model(queries) @ model(corpus).t()).topk(k).indices


corpus = torch.randint(0, 500, (256, 12))
model = SentenceEncoder()
pretrain(model, corpus)
print(retrieve(model, corpus[:3], corpus))
