import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class Denoiser(nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.inp = weight_norm(nn.Conv1d(1, channels, 5, padding=2, bias=False))
        self.mid = weight_norm(nn.Conv1d(channels, channels, 5, padding=2, bias=False))
        self.out = weight_norm(nn.Conv1d(channels, 1, 5, padding=2, bias=False))

    def forward(self, x):
        x = F.gelu(self.inp(x))
        x = F.gelu(self.mid(x)) + x
        return self.out(x)


def train(steps=1000, batch=16, length=4096, device="cuda"):
    model = Denoiser().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for step in range(steps):
        clean = torch.randn(batch, 1, length, device=device)
        noisy = clean + 0.1 * torch.randn_like(clean)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(clean)
            loss = F.mse_loss(model(noisy), target) + F.l1_loss(model(noisy), clean)
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, loss.item())
    return model


if __name__ == "__main__":
    train()
