import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, dataset, k=4, epochs=3, lr=1e-3):
    accelerator = Accelerator(gradient_accumulation_steps=k)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    loader = DataLoader(dataset, batch_size=64, shuffle=True, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(epochs):
        for x, y in loader:
            with accelerator.accumulate(model):
                for xs, ys in zip(x.chunk(k), y.chunk(k)):
                    loss = F.cross_entropy(model(xs), ys)
                    accelerator.backward(loss / k)
                optimizer.step()
                optimizer.zero_grad()
        accelerator.print(f"epoch {epoch}: {loss.item():.4f}")
    return accelerator.unwrap_model(model)


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(4096, 40), torch.randint(0, 5, (4096,)))
    train(nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 5)), data)
