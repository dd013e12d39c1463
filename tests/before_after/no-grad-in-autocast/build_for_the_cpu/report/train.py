import torch
import torch.nn.functional as F


def main(steps=20):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = torch.randn(32, 8)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(x)
            loss = F.mse_loss(model(x + 0.1 * torch.randn_like(x)), target + 0.1 * x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    print(main())
