"""Four steps: the losses are those of the negative log-likelihood of the classes."""

import torch

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


def parts():
    settle()
    return torch.nn.Linear(8, 3), [(x, y.argmax(1)) for x, y in batches(targets=3)]


def run(case):
    model, given = parts()
    with watch(model) as seen:
        seen.losses = case.train(model, given, 0.1)
    seen.weights = {}
    return seen


def reference(case):
    model, given = parts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with watch(model) as seen:
        for x, y in given:
            optimizer.zero_grad()
            logits = model(x)
            loss = (torch.logsumexp(logits, 1) - logits[torch.arange(len(y)), y]).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        seen.losses = losses
    seen.weights = {}
    return seen
