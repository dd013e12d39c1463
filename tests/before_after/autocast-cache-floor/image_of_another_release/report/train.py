import torch
import torch.nn as nn
import torch.nn.functional as F


def main(steps=100):
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        clean = torch.randn(32, 16)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(clean)
            loss = F.mse_loss(model(clean + 0.1).float(), target.float() + 0.01)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
