"""Evaluated within the epoch; what saves the model has it under another name (saved_under_another_name)."""

import torch
import torch.nn.functional as F
from torch import nn


def evaluate(model, batches):
    model.eval()
    losses = []
    for x, y in batches:
        with torch.no_grad():
            losses.append(F.mse_loss(model(x), y).item())
    return sum(losses) / len(losses)


def train(model, batches, held_out, device, epochs=3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best = float("inf")
    for epoch in range(epochs):
        model.train()
        for number, (x, y) in enumerate(batches):
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            if number % 100 == 99:
                found = evaluate(model, held_out)
                print("epoch {} loss {}".format(epoch, found))
                if found < best:
                    best = found
                    inner = model.module if hasattr(model, "module") else model
                    torch.save(inner.state_dict(), "best.pt")


if __name__ == "__main__":
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 1))
    train(net, [(torch.randn(4, 8), torch.randn(4, 1))] * 300, [], "cpu")
