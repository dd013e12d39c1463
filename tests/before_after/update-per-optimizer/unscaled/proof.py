"""The scale stays the same here: the update forgets that the head is unscaled, and its step unscales it again."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 1e-5


def models():
    torch.manual_seed(3)
    return torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)


def run(case):
    encoder, head = models()
    with watch(encoder, head) as seen:
        trainer = case.Trainer(encoder, head, "cpu", 1024.0)
        seen.losses = [trainer.training_step(inputs, targets) for inputs, targets in batches(steps=6)]
    return seen


def reference(case):
    """The same training without a scaler."""
    encoder, head = models()
    groups = [{"params": encoder.parameters(), "lr": 0.05}, {"params": head.parameters(), "lr": 0.1}]
    optimizer = torch.optim.SGD(groups, lr=0.05)
    with watch(encoder, head) as seen:
        for inputs, targets in batches(steps=6):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(head(encoder(inputs)), targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            seen.losses.append(loss.item())
    return seen
