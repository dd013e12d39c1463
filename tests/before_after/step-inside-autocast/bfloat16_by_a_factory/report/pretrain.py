import torch
import torch.nn.functional as F

import models


def main(loader, steps=1000, device="cuda"):
    model = models.small_lm().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    with torch.autocast(device, dtype=torch.bfloat16):
        for step, tokens in zip(range(steps), loader):
            tokens = tokens.to(device)
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % 50 == 0:
                print(step, loss.item())
