# fixer: unsafe
import torch
import torch.nn.functional as F
from accelerate import Accelerator


def train(model, batches, steps, lr=0.05):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=steps)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    model, optimizer = accelerator.prepare(model, optimizer)
    losses = []
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            accelerator.backward(loss / steps)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses
