import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    @property
    def scoring(self):
        return not self.training

    def forward(self, x):
        h = self.norm(self.proj(x))
        if self.scoring:
            return h
        return F.dropout(h, 0.3)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(24, 1)

    def forward(self, left, right):
        return self.head(self.encoder(left)) - self.head(self.encoder(right))


model = Ranker()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(50):
    model.train()
    margin = model(torch.randn(16, 24), torch.randn(16, 24))
    loss = F.softplus(-margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
with torch.inference_mode():
    scores = model(torch.randn(4, 24), torch.randn(4, 24))
print(scores)
