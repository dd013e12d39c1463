import torch
import torch.nn.functional as F
from accelerate import Accelerator

from penalties import shrink


def train(model, loader):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            shrink(model)
            optimizer.step()
            optimizer.zero_grad()
