import torch
from torch import nn


class ClipScorer(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.image = nn.Linear(dim, 64)
        self.text = nn.Embedding(classes, 64)

    def forward(self, x):
        a = nn.functional.normalize(self.image(x), dim=-1)
        b = nn.functional.normalize(self.text.weight, dim=-1)
        return 4.0 * a @ b.t()


class Sampler:
    """Draws labels and keeps their log-probabilities, without allocating in the loop."""

    def __init__(self, scorer, batch, classes):
        self.scorer = scorer
        self.probs = torch.empty(batch, classes)

    @torch.no_grad()
    def draw(self, x):
        scores = self.scorer(x)
        logp = torch.log(torch.softmax(scores, dim=-1, out=self.probs))
        label = torch.multinomial(self.probs, 1)
        return label.squeeze(1), logp.gather(1, label).squeeze(1)

    def confidence(self):
        return self.probs.max(dim=-1).values.mean().item()


def main(steps=5):
    torch.manual_seed(0)
    scorer = ClipScorer(16, 10)
    sampler = Sampler(scorer, 32, 10)
    optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(32, 16)
        label, old = sampler.draw(x)
        reward = (label % 2 == 0).float()
        new = torch.log_softmax(scorer(x), dim=-1).gather(1, label[:, None]).squeeze(1)
        loss = -((new - old).exp() * (reward - reward.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item(), sampler.confidence())


if __name__ == "__main__":
    main()
