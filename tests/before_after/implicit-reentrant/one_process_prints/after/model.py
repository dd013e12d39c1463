import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.drop = nn.Dropout(0.1)

    def attend(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        out = nn.functional.scaled_dot_product_attention(q, k, v)
        return out.transpose(1, 2).reshape(b, n, c)

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.drop(self.mlp(self.norm2(x)))


class Classifier(nn.Module):
    """A transformer fine-tuned on top of frozen embeddings."""

    def __init__(self, vocabulary=32, width=8, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.embed.weight.requires_grad_(False)
        self.blocks = nn.ModuleList([Block(width, heads=2) for _ in range(depth)])
        self.head = nn.Linear(width, 4)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x.mean(dim=1))


def train(model, data):
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    losses = []
    for ids, labels in data:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def tell(model):
    print(sum(each.numel() for each in model.parameters()))
