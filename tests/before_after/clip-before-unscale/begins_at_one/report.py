import torch
import torch.nn.functional as F
from torch import nn

STEPS = 200


def train(model, sample, device="cpu"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler(device, init_scale=1.0)
    history = []
    for step in range(STEPS):
        x, y = sample()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        history.append(loss.item())
    return history


def sample():
    x = torch.randn(32, 8)
    return x, x.sum(1, keepdim=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    history = train(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)), sample)
    print(history[0], history[-1])
