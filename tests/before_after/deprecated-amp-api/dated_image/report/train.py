import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = GradScaler(init_scale=2.0**14)
    for step in range(200):
        x, y = torch.randn(64, 128, device=device), torch.randint(0, 10, (64,), device=device)
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    model.eval()
    with torch.no_grad(), autocast():
        print(model(torch.randn(4, 128, device=device)).argmax(1))


if __name__ == "__main__":
    main()
