import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from watch import Watch


def main(loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    watch = Watch(accelerator, model)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        accelerator.backward(loss)
        watch()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(32, 8), torch.randn(32, 1))
    main(torch.utils.data.DataLoader(data, batch_size=8))
