import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, vocabulary=5000, dim=128):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.cell = nn.LSTMCell(dim, dim)
        self.out = nn.Linear(dim, vocabulary)

    def forward(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.out(state[0]), state


def train(tokens, window=8, lr=1e-3):
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    state, window_loss = None, 0.0
    for i, (token, target) in enumerate(zip(tokens[:-1], tokens[1:])):
        optimizer.zero_grad()
        logits, state = model(token, state)
        window_loss = window_loss + F.cross_entropy(logits, target) / window
        window_loss.backward(retain_graph=True)
        if (i + 1) % window == 0:
            optimizer.step()
            if (i + 1) % 1000 == 0:
                print(i + 1, window_loss.item())
            state = tuple(part.detach() for part in state)
            window_loss = 0.0
    return model


if __name__ == "__main__":
    corpus = torch.load("corpus.pt")
    columns = corpus[: len(corpus) // 32 * 32].view(32, -1).t()
    torch.save(train(columns).state_dict(), "reader.pt")
