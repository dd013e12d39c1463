import torch
import torch.nn as nn
import torch.nn.functional as F


def fit(x, y, rounds=10):
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=20)
    losses = []
    with torch.autocast("cpu", dtype=torch.bfloat16):

        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).float(), y)
            loss.backward()
            return loss

        for _ in range(rounds):
            optimizer.step(closure)
            losses.append(F.mse_loss(model(x).float(), y).item())
    return losses


if __name__ == "__main__":
    x = torch.randn(128, 8)
    print(fit(x, x.sum(1, keepdim=True).sin()))
