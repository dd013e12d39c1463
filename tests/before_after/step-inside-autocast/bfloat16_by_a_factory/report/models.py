import torch
from torch import nn


def small_lm(vocab=32000, width=512, depth=6):
    layers = [nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True) for _ in range(depth)]
    model = nn.Sequential(nn.Embedding(vocab, width), *layers, nn.Linear(width, vocab))
    return model.to(torch.bfloat16)
