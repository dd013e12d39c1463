"""Both halves of the model are clipped at a norm 1,024 times too large; two calls of `unscale_` put it right."""

import torch

from codemods.verify.observe import batches, watch

SYMPTOM = "differs"
TOLERANCE = 5e-3  # float16 against float32


def halves():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU()), torch.nn.Linear(16, 1)


def run(case):
    encoder, decoder = halves()
    with watch(encoder, decoder) as seen:
        seen.losses = case.train(encoder, decoder, batches(steps=6), "cpu", init_scale=1024.0)
    return seen


def reference(case):
    """The same training in float32, without a scaler."""
    encoder, decoder = halves()
    optimizers = [torch.optim.SGD(half.parameters(), lr=0.05) for half in (encoder, decoder)]
    with watch(encoder, decoder) as seen:
        for inputs, targets in batches(steps=6):
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(decoder(encoder(inputs)), targets)
            loss.backward()
            for half in (encoder, decoder):
                torch.nn.utils.clip_grad_norm_(half.parameters(), 0.5)
            for optimizer in optimizers:
                optimizer.step()
            seen.losses.append(loss.item())
    return seen
