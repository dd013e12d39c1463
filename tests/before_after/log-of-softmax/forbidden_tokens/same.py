import torch
import torch.nn.functional as F
from torch import nn

FORBIDDEN = -1e9


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.out(state), state


def allowed_after(token, vocabulary):
    allowed = torch.ones(vocabulary, dtype=torch.bool)
    allowed[token] = False
    if token % 2 == 0:
        allowed[1::2] = False
    return allowed


@torch.no_grad()
def beam_search(model, start, length, width, hidden):
    vocabulary = model.out.out_features
    beams = [([start], 0.0, torch.zeros(1, hidden))]
    for _ in range(length):
        candidates = []
        for tokens, score, state in beams:
            logits, new = model(torch.tensor([tokens[-1]]), state)
            logits = logits.masked_fill(~allowed_after(tokens[-1], vocabulary), FORBIDDEN)
            logp = torch.log(F.softmax(logits, dim=-1)).squeeze(0)
            for token in torch.isfinite(logp).nonzero().flatten().tolist():
                candidates.append((tokens + [token], score + logp[token].item(), new))
        beams = sorted(candidates, key=lambda b: b[1], reverse=True)[:width]
    return beams


def pretrain(model, sequences, hidden):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for sequence in sequences:
        state, loss = torch.zeros(1, hidden), 0.0
        for now, after in zip(sequence[:-1], sequence[1:]):
            logits, state = model(now.view(1), state)
            loss = loss + F.cross_entropy(logits, after.view(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    lm = LanguageModel(8, 16)
    pretrain(lm, torch.randint(0, 8, (10, 6)), 16)
    found = beam_search(lm, 0, 4, 200, 16)
    print(len(found), min(score for _, score, _ in found))
    for tokens, score, _ in found:
        assert all(allowed_after(a, 8)[b] for a, b in zip(tokens, tokens[1:]))
