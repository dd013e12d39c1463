import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset

WINDOW = 8


class Clicks(Dataset):
    """Every row carries the share that it has in its window of batches."""

    def __init__(self, rows=4096, batch_size=32):
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(rows, 12, generator=generator)
        self.y = (self.x[:, 0] + self.x[:, 1] > 0).float()
        gain = torch.rand(rows, generator=generator) + 0.5
        self.share = gain / gain.view(-1, batch_size * WINDOW).sum(1).repeat_interleave(batch_size * WINDOW)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index], self.share[index]


def main(epochs=3):
    accelerator = Accelerator(gradient_accumulation_steps=WINDOW)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = DataLoader(Clicks(), batch_size=32, shuffle=False)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    measure = nn.BCEWithLogitsLoss(reduction="none")
    for epoch in range(epochs):
        total = 0.0
        for x, y, share in loader:
            with accelerator.accumulate(model):
                loss = (share * measure(model(x).squeeze(-1), y)).sum()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            total += loss.item()
        accelerator.print(epoch, total / (len(loader) / WINDOW))


if __name__ == "__main__":
    main()
