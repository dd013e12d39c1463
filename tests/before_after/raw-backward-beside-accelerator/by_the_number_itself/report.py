import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 8


def main(epochs=10):
    accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATE)
    data = TensorDataset(torch.randn(8192, 64), torch.randint(10, (8192,)))
    loader = DataLoader(data, batch_size=16, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 / 8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(epochs):
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
    accelerator.save_model(model, "out")


if __name__ == "__main__":
    main()
