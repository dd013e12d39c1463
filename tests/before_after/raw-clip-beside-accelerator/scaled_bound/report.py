import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch.nn.utils import clip_grad_norm_


def scale_of(accelerator):
    return 1.0 if accelerator.scaler is None else accelerator.scaler.get_scale()


def train(model, loader, lr=3e-4, limit=1.0, epochs=3):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            scale = scale_of(accelerator)
            norm = clip_grad_norm_(model.parameters(), limit * scale)
            optimizer.step()
            optimizer.zero_grad()
            accelerator.log({"loss": loss.item(), "grad_norm": norm.item() / scale})
        accelerator.print(epoch, loss.item())
    return accelerator.unwrap_model(model)


if __name__ == "__main__":
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.randn(2048, 32), torch.randint(0, 8, (2048,)))
    net = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.Linear(256, 8))
    train(net, DataLoader(data, batch_size=64, shuffle=True))
