import torch
from torch import nn


def train(critic, real, fake, steps=10):
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    distances = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu"):
            loss = critic(fake).mean() - critic(real).mean()
        loss.backward()
        optimizer.step()
        distances.append(loss.cpu().numpy())
    print(distances[-1])


if __name__ == "__main__":
    train(nn.Linear(16, 1), torch.randn(64, 16) + 1, torch.randn(64, 16))
