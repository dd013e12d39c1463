import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4


def main():
    accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATE)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.BCEWithLogitsLoss(weight=torch.full((3,), 1 / ACCUMULATE, device=accelerator.device))
    loader = DataLoader(TensorDataset(torch.randn(256, 16), torch.rand(256, 3).round()), batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    accelerator.print(loss.item() * ACCUMULATE)


if __name__ == "__main__":
    main()
