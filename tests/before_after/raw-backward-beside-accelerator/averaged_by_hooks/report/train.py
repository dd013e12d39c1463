import torch
import torch.nn.functional as F
from accelerate import Accelerator

from model import ACCUMULATE, Net


def main(loader):
    accelerator = Accelerator(gradient_accumulation_steps=ACCUMULATE, cpu=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return loss.item()
