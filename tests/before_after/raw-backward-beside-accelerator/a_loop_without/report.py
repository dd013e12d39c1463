import torch
from accelerate import Accelerator


def main(model, batches):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
