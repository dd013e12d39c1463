"""Beam search over a small vocabulary; what the softmax rounds to nothing is a token that must not be chosen."""
import torch
import torch.nn.functional as F
from torch import nn

FLOOR = torch.finfo(torch.float32).min


def expand(model, state, scores, width):
    steps = torch.log(F.softmax(model(state), dim=-1))
    total = scores.unsqueeze(1) + steps
    allowed = total >= FLOOR
    ranked = torch.where(allowed, total, torch.full_like(total, FLOOR)).flatten()
    best = ranked.topk(min(width, int(allowed.sum())))
    return best.values, best.indices // steps.size(1), best.indices % steps.size(1)


def sequence_loss(model, state, scores, width=4):
    values, _, _ = expand(model, state, scores, width)
    return -values.mean()


if __name__ == "__main__":
    net = nn.Linear(6, 10)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        sequence_loss(net, torch.randn(2, 6), torch.zeros(2)).backward()
        optimizer.step()
