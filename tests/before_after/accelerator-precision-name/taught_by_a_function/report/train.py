import spelling
import torch
import torch.nn.functional as F
from accelerate import Accelerator

spelling.teach(Accelerator, "mixed_precision")


def train(model, loader):
    accelerator = Accelerator(mixed_precision="bfloat16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        with accelerator.autocast():
            loss = F.mse_loss(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
    return accelerator.unwrap_model(model)
