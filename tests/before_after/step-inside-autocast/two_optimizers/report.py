"""Node vectors move twice in a step, the scorer once: the vectors lie on the CPU and are cheap."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Links(nn.Module):
    def __init__(self, nodes=1000, width=32):
        super().__init__()
        self.vectors = nn.Embedding(nodes, width, sparse=True)
        self.scorer = nn.Linear(2 * width, 1)

    def forward(self, pairs):
        return self.scorer(self.vectors(pairs).flatten(1)).squeeze(-1)


def main(steps=30):
    torch.manual_seed(0)
    model = Links()
    fast = torch.optim.SparseAdam(model.vectors.parameters(), lr=1e-2)
    slow = torch.optim.SGD(model.scorer.parameters(), lr=1e-2)
    for _ in range(steps):
        pairs, linked = torch.randint(0, 1000, (64, 2)), torch.rand(64).round()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.binary_cross_entropy_with_logits(model(pairs).float(), linked)
            loss.backward()
            fast.step()
            fast.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(pairs).float(), linked)
        loss.backward()
        fast.step()
        fast.zero_grad()
        slow.step()
        slow.zero_grad()
    return loss.item()


if __name__ == "__main__":
    print(main())
