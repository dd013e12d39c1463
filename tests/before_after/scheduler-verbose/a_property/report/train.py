import torch
from setup import Setup
from torch.optim.lr_scheduler import StepLR


def train(model, batches, setup):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, step_size=5, verbose=setup.loud)
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        setup.file.write(f"{loss.item():.4f}\n")
    setup.file.close()


if __name__ == "__main__":
    train(torch.nn.Linear(4, 1), [(torch.randn(8, 4), torch.randn(8, 1))] * 12, Setup("/tmp/run.log"))
