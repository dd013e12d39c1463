import torch
import torch.nn.functional as F

from lookahead import SlowWeights


def drift(model, x, before):
    return (model(x).detach() - before.detach()).abs().mean().item()


def train(model, loader, device="cpu"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    slow = SlowWeights(model)
    history = []
    with torch.autocast(device, dtype=torch.bfloat16):
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            out = model(x)
            loss = F.mse_loss(out, y)
            loss.backward()
            optimizer.step()
            history.append((loss.item(), drift(model, x, out)))
            slow.pull(i)
    return history
