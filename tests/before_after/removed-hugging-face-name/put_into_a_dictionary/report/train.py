import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import Lines
from tokens import CharTokenizer


def main(lines, epochs=5):
    tokenizer = CharTokenizer(length=64)
    model = nn.Sequential(nn.Embedding(tokenizer.vocab_size, 32), nn.Linear(32, tokenizer.vocab_size))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        for ids in DataLoader(Lines(lines, tokenizer), batch_size=16, shuffle=True):
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main(["the quick brown fox", "jumps over the lazy dog"] * 50)
